"""The companion door: what is remembered, in the person's own hands, under /v1/memory."""
