"""Floor 1: the reference codecs of Heka's messages and streams. heka.md."""
