"""Common code of the adapters in Python: fake servers, and the values and errors of the libraries."""
