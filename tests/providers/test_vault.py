"""The vault: sealed texts open again under every key they may have been sealed with, and under no other."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from recollect.errors import InvalidInput, Unavailable
from recollect.providers.vault import KEY_FILE, Vault

SECRET = "sk-a-key-nobody-may-see"


@pytest.mark.parametrize(
    "key", ["c2l4dGVlbiBhbmQgc2l4dGVlbiBtYWtlIDMyIGJ5dGU=", "a long sentence that somebody made up", "短い鍵"]
)
def test_what_is_sealed_opens_again_in_another_process(key: str) -> None:
    sealed = Vault([key]).seal(SECRET)
    assert SECRET not in sealed
    assert Vault([key]).open(sealed) == SECRET


def test_the_same_secret_never_looks_the_same() -> None:
    vault = Vault(["k"])
    assert vault.seal(SECRET) != vault.seal(SECRET)


def test_an_old_key_opens_until_it_is_dropped(tmp_path: Path) -> None:
    sealed = Vault.of("old", tmp_path).seal(SECRET)
    both = Vault.of("new, old", tmp_path)
    assert both.open(sealed) == SECRET
    assert Vault.of("new", tmp_path).open(both.seal(SECRET)) == SECRET
    with pytest.raises(Unavailable, match="RECOLLECT_SECRET_KEY") as lost:
        Vault.of("new", tmp_path).open(sealed)
    assert sealed not in lost.value.message
    assert lost.value.__suppress_context__


@pytest.mark.parametrize("rubbish", ["", "gAAAAA", "not sealed at all", "é" * 40])
def test_what_was_never_sealed_does_not_open(rubbish: str) -> None:
    with pytest.raises(Unavailable):
        Vault(["k"]).open(rubbish)


def test_a_tampered_text_does_not_open() -> None:
    vault = Vault(["k"])
    sealed = vault.seal(SECRET)
    changed = sealed[:-10] + ("A" if sealed[-10] != "A" else "B") + sealed[-9:]
    with pytest.raises(Unavailable):
        vault.open(changed)


def test_without_a_configured_key_one_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    sealed = Vault.of("", tmp_path / "data").seal(SECRET)
    file = tmp_path / "data" / KEY_FILE
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [each.name for each in file.parent.iterdir()] == [KEY_FILE]
    assert Vault.of(" ", tmp_path / "data").open(sealed) == SECRET


def test_a_file_may_hold_several_keys(tmp_path: Path) -> None:
    sealed = Vault.of("", tmp_path).seal(SECRET)
    file = tmp_path / KEY_FILE
    file.write_text(f"{Fernet.generate_key().decode()}\n{file.read_text()}")
    assert Vault.of("", tmp_path).open(sealed) == SECRET


def test_processes_that_start_together_share_one_key(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from recollect.providers.vault import Vault; "
        "print(Vault.of('', Path(sys.argv[1])).seal('x'))"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    sealed = [process.communicate(timeout=60)[0].strip() for process in started]
    assert {Vault.of("", tmp_path).open(each) for each in sealed} == {"x"}


def test_an_unusable_place_is_said_plainly(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    with pytest.raises(Unavailable, match="RECOLLECT_SECRET_KEY"):
        Vault.of("", tmp_path / "taken")
    (tmp_path / KEY_FILE).write_text("\n")
    with pytest.raises(Unavailable, match="empty"):
        Vault.of("", tmp_path)


@pytest.mark.parametrize("keys", [[], [" "], ["k"] * 9])
def test_no_key_and_too_many_keys_are_refused(keys: list[str]) -> None:
    with pytest.raises(InvalidInput):
        Vault(keys)
