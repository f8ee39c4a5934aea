"""Which compiled kernels an edit makes stale: those of the modules that depend on the file."""

import shutil
from pathlib import Path

import pytest

from gdl import source_digest
from gdl.source_digest import PACKAGES, digest_of, sources_of

ROOT = Path(source_digest.__file__).parent.parent
MODULES = (
    "gdl.instantiation.terms",
    "gdl.instantiation.joins",
    "propnet.factoring",
    "propnet.kernels",
    "ggp_agent.search.tree",
    "ggp_agent.search.simulation",
    "ggp_agent.tuning.ntbea",
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package)
    return tmp_path


@pytest.mark.parametrize(
    ("edited", "stale"),
    [
        ("gdl/instantiation/joins.py", {"gdl.instantiation.joins"}),
        ("gdl/instantiation/terms.py", {"gdl.instantiation.terms", "gdl.instantiation.joins"}),
        ("gdl/instantiation/engine.py", set()),
        ("gdl/rules.py", set()),
        ("gdl/kernel_cache.py", set(MODULES)),
        ("propnet/gates.py", {"propnet.factoring"}),
        ("propnet/network.py", set()),
        ("propnet/kernels.py", {"propnet.kernels", "ggp_agent.search.simulation"}),
        ("propnet/vectors.py", set(MODULES[3:])),
        ("ggp_agent/search/__init__.py", set(MODULES[4:])),
        ("ggp_agent/search/simulation.py", {"ggp_agent.search.simulation"}),
        ("ggp_agent/search/native.py", set()),
        ("ggp_agent/tuning/random_numbers.py", {"ggp_agent.tuning.ntbea"}),
        ("ggp_agent/tuning/tuners.py", set()),
    ],
)
def test_an_edit_changes_the_digests_of_its_dependents_alone(
    copy: Path, edited: str, stale: set[str]
) -> None:
    before = {module: digest_of(module, copy) for module in MODULES}
    assert before == {module: digest_of(module, ROOT) for module in MODULES}
    with (copy / edited).open("a") as file:
        file.write("\nADDED = 1\n")
    source_digest._read.cache_clear()
    changed = {module for module in MODULES if digest_of(module, copy) != before[module]}
    assert changed == stale


def test_imports_are_found_in_every_form(tmp_path: Path) -> None:
    files = {
        "gdl/__init__.py": "",
        "gdl/a.py": "import gdl.b, gdl.c as c  # gdl.unused\nimport numpy as np\n",
        "gdl/b.py": "from gdl import (\n    d,  # not gdl.unused\n    name as other,\n)\n",
        "gdl/c.py": "from gdl.e import name  # gdl.unused\nif name:\n    import gdl.unused\n",
        "gdl/d.py": "import gdl.a\n",
        "gdl/e.py": "",
        "gdl/unused.py": "",
        "numpy.py": "",
    }
    (tmp_path / "gdl").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    expected = {"gdl", "gdl.a", "gdl.b", "gdl.c", "gdl.d", "gdl.e"}
    assert set(sources_of("gdl.a", tmp_path)) == expected
