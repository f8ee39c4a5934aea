"""Where kernels are kept, and for how long."""

import os
from pathlib import Path

import pytest

from gdl import kernel_cache
from gdl.kernel_cache import KEPT


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kernel_cache, "_base_folder", lambda: tmp_path)
    return tmp_path


def _folder(module: str) -> Path:
    return kernel_cache._folder_of.__wrapped__(module)


def test_modules_have_folders_of_their_own(base: Path) -> None:
    first, second = _folder("gdl.instantiation.terms"), _folder("gdl.instantiation.views")
    assert first.parent == second.parent == base
    assert first != second and first == _folder("gdl.instantiation.terms")


def test_bounds_checks_make_other_kernels(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folders = set()
    for checked in (0, 1):
        monkeypatch.setattr(kernel_cache.numba.config, "BOUNDSCHECK", checked)
        folders.add(_folder("gdl.instantiation.terms"))
    assert len(folders) == 2


def test_the_states_that_were_used_last_are_kept(base: Path) -> None:
    names = [f"gdl.instantiation.terms-{n}" for n in range(KEPT + 3)]
    for age, name in enumerate([*names, "gdl.instantiation.views-0"]):
        (base / name / "kernels").mkdir(parents=True)
        os.utime(base / name, (1000 - age, 1000 - age))
    _folder("gdl.instantiation.terms").mkdir()
    left = {folder.name for folder in base.iterdir()}
    assert left >= {*names[: KEPT - 1], "gdl.instantiation.views-0"}
    assert len(left) == KEPT + 1


def test_a_state_that_is_there_removes_nothing(base: Path) -> None:
    _folder("gdl.instantiation.terms").mkdir()
    for number in range(KEPT + 3):
        (base / f"gdl.instantiation.terms-{number}").mkdir()
    _folder("gdl.instantiation.terms")
    assert len(list(base.iterdir())) == KEPT + 4
