"""`python -m recollect` is the command line, for when the script is not on the path."""

from __future__ import annotations

from recollect.cli import main

if __name__ == "__main__":
    main()
