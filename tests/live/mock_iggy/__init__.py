"""A mock server of Iggy on 127.0.0.1 in the classic framing, and servers with one fault each."""
