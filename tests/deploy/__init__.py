"""The files an operator takes: rules, dashboards, units and images name only what exists."""
