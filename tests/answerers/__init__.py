"""Those who answer questions over data, in front of real databases and a real HTTP server."""
