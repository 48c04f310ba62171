"""A process with many threads has few heaps, where the C library can be told; elsewhere nothing is asked of it."""

from __future__ import annotations

import platform
import subprocess
import sys

from recollect.worker.heaps import HEAPS

COUNTED = """
import ctypes, sys, threading
from recollect.worker.heaps import few_heaps

told = few_heaps() if sys.argv[1] == "few" else False
library, here = ctypes.CDLL(None), threading.Barrier(12)
library.malloc.restype, library.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
library.open_memstream.restype, library.fclose.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
library.malloc_info.argtypes = [ctypes.c_int, ctypes.c_void_p]

def allocate():
    here.wait()
    library.malloc(10_000)
    here.wait()

threads = [threading.Thread(target=allocate) for _ in range(11)]
for each in threads:
    each.start()
here.wait()
here.wait()
text, size = ctypes.c_char_p(), ctypes.c_size_t()
stream = library.open_memstream(ctypes.byref(text), ctypes.byref(size))
library.malloc_info(0, stream)
library.fclose(stream)
print(told, text.value.count(b"<heap nr="))
"""


def _heaps(asked: str) -> tuple[str, int]:
    said = subprocess.run(
        [sys.executable, "-c", COUNTED, asked], capture_output=True, text=True, check=True, timeout=120
    ).stdout.split()
    return said[0], int(said[1])


def test_many_threads_share_few_heaps() -> None:
    assert platform.libc_ver()[0] == "glibc", "counted in the words of that library"
    told, few = _heaps("few")
    assert (told, few <= HEAPS) == ("True", True)
    assert _heaps("as many as it likes")[1] > HEAPS
