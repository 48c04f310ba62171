"""The native door: the whole engine as REST, under /v1/memories."""
