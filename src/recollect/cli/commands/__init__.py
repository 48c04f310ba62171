"""One file per command. Each is loaded only when it is called, so each may import what it needs in the open."""
