"""Live systems: brokers and servers that are asked over the network, client programs, a loopback broker."""
