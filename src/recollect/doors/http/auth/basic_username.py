"""`basic_username`: name and password, against a file of scrypt hashes.

An unknown name costs the same hash as a wrong password and gets the same answer. A password that was right a moment ago is
remembered for a minute, as a keyed digest in this process, so that a client that sends it with every request doesn't pay the
hash each time; that ends at once when the user's line changes. No more than a few hashes run side by side: guessing is
slow for the guesser, and does not take the machine from the others. Nor do many wait: whoever comes behind them is
told to come again, instead of standing in a line that guessers make.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

from fastapi import Request

from recollect.doors.http.auth import passwords, users_file
from recollect.doors.http.auth.caller import Caller, known_as
from recollect.doors.http.auth.credentials import authorization, name_and_password
from recollect.doors.http.auth.users_file import User
from recollect.errors import InvalidInput, RateLimited, Unauthenticated

REMEMBERED_SECONDS = 60.0
MOST_REMEMBERED = 10_000
HASHES_AT_ONCE = 2
MOST_WAITING = 16
RETRY_SECONDS = 2
LONGEST_PASSWORD = 1024


class BasicUsername:
    challenge = 'Basic realm="recollect", charset="UTF-8"'
    scheme: ClassVar[dict[str, Any] | None] = {"type": "http", "scheme": "basic"}

    def __init__(self, path: Path, tenant: str, space: str, now: Callable[[], float] = time.monotonic) -> None:
        self._path, self._tenant, self._space, self._now = path, tenant, space, now
        self._users = users_file.read(path)
        self._stamp = self._stamped()
        self.decoy = self._decoy()
        """What an unknown name is measured against: a hash that costs what those of the file cost."""
        self.hashes = 0
        """How many passwords were hashed so far."""
        self._key = secrets.token_bytes(32)
        self._right: OrderedDict[bytes, float] = OrderedDict()
        self._turns = asyncio.Semaphore(HASHES_AT_ONCE)
        self._waiting = 0

    async def __call__(self, request: Request) -> Caller:
        name, password = name_and_password(authorization(request, "Basic"))
        if len(password) > LONGEST_PASSWORD:
            raise Unauthenticated("the password is longer than any password")
        self._refresh()
        user = self._users.get(name)
        if not await self._fits(user, password) or user is None:
            raise Unauthenticated("unknown user or wrong password")
        return known_as("basic", user.tenant or self._tenant, user.name, self._space, user.role)

    async def _fits(self, user: User | None, password: str) -> bool:
        hashed = user.password if user else self.decoy
        proof = hmac.digest(self._key, f"{hashed}\0{password}".encode(), hashlib.sha256)
        if self._right.get(proof, 0.0) > self._now():
            return True
        if self._waiting >= MOST_WAITING:
            raise RateLimited("too many are logging in at once; try again in a moment", retry_after_s=RETRY_SECONDS)
        self.hashes += 1
        self._waiting += 1
        try:
            async with self._turns:
                fits = await asyncio.to_thread(hashed.fits, password)
        finally:
            self._waiting -= 1
        if fits and user is not None:
            self._right[proof] = self._now() + REMEMBERED_SECONDS
            while len(self._right) > MOST_REMEMBERED:
                self._right.popitem(last=False)
        return fits

    def _refresh(self) -> None:
        stamp = self._stamped()
        if stamp == self._stamp:
            return
        try:
            self._users = users_file.read(self._path)
        except InvalidInput as problem:
            raise Unauthenticated(f"nobody can log in: {problem}") from None
        self._stamp, self.decoy = stamp, self._decoy()

    def _stamped(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _decoy(self) -> passwords.Hashed:
        alike = next((user.password for user in self._users.values()), None)
        secret = secrets.token_urlsafe(32)
        return passwords.hashed(secret, alike.n, alike.r, alike.p) if alike else passwords.hashed(secret)
