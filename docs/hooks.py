"""What `mkdocs build` adds to the pages in this folder: those that are made from other files.

README, CONTRIBUTING and CHANGELOG of the repository, `tournaments.py`, and one page per public
module, which mkdocstrings fills with its docstrings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("gdl", "forward_model", "propnet", "ggp_agent")
COPIED = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
SCRIPT = "tournaments.py"
"""A script of cells: text in comments, code between."""

NavItem = dict[str, Any] | str


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the modules into the navigation, folder by folder."""
    folders = [_nav_of(ROOT / name) for name in PACKAGES if (ROOT / name).is_dir()]
    config.nav = [*(config.nav or []), {"API reference": folders}]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made from other files."""
    for source, page in COPIED.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=_with_links_to_pages(text)))
    script = (ROOT / "docs" / SCRIPT).read_text(encoding="utf-8")
    page = Path(SCRIPT).with_suffix(".md").name
    files.append(File.generated(config, page, content=_cells_as_markdown(script)))
    for name in PACKAGES:
        for path in _modules(ROOT / name):
            page, module = _page_of(path), _name_of(path)
            files.append(File.generated(config, page, content=f"::: {module}\n"))
    return files


def _modules(folder: Path) -> Iterator[Path]:
    """The public modules in a folder and those below it."""
    for path in sorted(folder.rglob("*.py")):
        if path.name == "__init__.py" or not path.name.startswith("_"):
            yield path


def _name_of(path: Path) -> str:
    """A module's name."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _page_of(path: Path) -> str:
    """A module's page; that of a package is the index of its folder."""
    page = path.relative_to(ROOT).with_suffix(".md")
    return f"api/{page.with_name('index.md') if page.stem == '__init__' else page}"


def _nav_of(folder: Path) -> NavItem:
    """The navigation of a package: its own page, its modules, its folders."""
    own = [path for path in _modules(folder) if path.parent == folder]
    pages: list[NavItem] = [_page_of(path) for path in own if path.stem == "__init__"]
    pages += [{path.stem: _page_of(path)} for path in own if path.stem != "__init__"]
    inner = [path for path in sorted(folder.iterdir()) if (path / "__init__.py").is_file()]
    return {folder.name: pages + [_nav_of(path) for path in inner]}


def _with_links_to_pages(text: str) -> str:
    """Links to files of the repository as links to their pages."""
    text = re.sub(r"\]\(docs/([\w./-]+?)\.(?:md|py)(#[\w-]+)?\)", r"](\1.md\2)", text)
    for source, page in COPIED.items():
        text = text.replace(f"]({source}", f"]({page}")
    return text


def _cells_as_markdown(script: str) -> str:
    """A script of cells as a page: its docstring, its texts, its code."""
    first, *cells = re.split(r"^# %%", script, flags=re.MULTILINE)
    docstring = first.strip().strip('"')
    title, _, rest = docstring.partition("\n")
    parts = [f"# {title.rstrip('.')}\n\nThe script `docs/{SCRIPT}`. {rest.strip()}\n"]
    for cell in cells:
        kind, _, body = cell.partition("\n")
        if kind.strip() == "[markdown]":
            parts.append(re.sub(r"^# ?", "", body.strip(), flags=re.MULTILINE) + "\n")
        else:
            parts.append(f"```python\n{body.strip()}\n```\n")
    return "\n".join(parts)
