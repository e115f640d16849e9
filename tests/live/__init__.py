"""Live servers: brokers that are started here, real ones and mocks with a fault, and the suite judges them."""
