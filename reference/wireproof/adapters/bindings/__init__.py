"""Real codecs of Python packages as adapters; each shows what its library gives, faults and all."""
