"""Live servers: real brokers and mocks with a fault, which are started here and judged by the suite."""
