"""Taking something in: what a text becomes, what it repeats, what it contradicts, and how it is made findable."""
