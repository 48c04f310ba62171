"""Runs one server and sees to it that it ends with the test run, however the test run ends.

Started as a process of its own: it launches the command, prints the command's process id, and waits for its
standard input to close. The system closes that pipe when the test process exits, crashes or is killed, so no
clean-up code in the tests has to survive for the server to go away. It ends its own child and nothing else. A
parent that closes the pipe on purpose says "keep" first and looks after the server's folder itself.

It stays in the standard library and imports nothing of ours, because it runs isolated from both.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

PATIENCE = 10.0
KEEP = b"keep"


def main() -> int:
    """Run the command until it ends by itself or the parent closes our standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--uid", type=int, help="run the command as this user; only root can ask for it")
    parser.add_argument("--gid", type=int)
    parser.add_argument("--remove", type=Path, help="a folder to delete if the parent dies")
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    # Ctrl-C goes to the whole foreground group; the parent decides what it means and closes the pipe.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    groups: list[str | int] | None = [] if options.uid is not None else None
    with options.log.open("ab") as log:
        child = subprocess.Popen(
            options.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=options.log.parent,
            user=options.uid,
            group=options.gid,
            extra_groups=groups,
            start_new_session=True,
        )
    print(child.pid, flush=True)
    # Reaping at once lets the parent see a killed server as gone rather than as a zombie.
    threading.Thread(target=child.wait, daemon=True).start()
    parting_words = sys.stdin.buffer.read()
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
    try:
        child.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    if options.remove is not None and parting_words != KEEP:
        shutil.rmtree(options.remove, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
