"""The command line, run as people and scripts run it."""
