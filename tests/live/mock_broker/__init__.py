"""A Kafka broker in Python that appends as Kafka does, and variants of it with one fault each.

`faults.FAULTS` lists the variants. `server.running(name)` starts one; as a program,
`python -m tests.live.mock_broker start NAME`.
"""
