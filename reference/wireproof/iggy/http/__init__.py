"""The bodies of HTTP requests and replies of Iggy: iggy.md, section 8."""
