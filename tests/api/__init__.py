"""The library's public face, used as its readers will use it."""
