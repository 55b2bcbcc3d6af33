"""All notebooks run from top to bottom, and so do the examples and the blocks of docs/python.md."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("path", sorted((HERE / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    monkeypatch.setenv("CLAIMEVEN_MINUTES", "0.1")
    monkeypatch.setenv("MPLBACKEND", "agg")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "notebooks are kept without outputs"
    # Not over TCP: another program could take one of the kernel's ports before the kernel does.
    config = pytest.importorskip("traitlets.config").Config({"KernelManager": {"transport": "ipc"}})
    nbclient.NotebookClient(notebook, timeout=1200, kernel_name="python3", config=config).execute()


@pytest.mark.parametrize("path", sorted((HERE / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, path], cwd=tmp_path, check=True, timeout=1200)


def test_the_blocks_of_the_documentation_run_as_printed(tmp_path: Path) -> None:
    """One after another in one session, as a reader would type them."""
    document = HERE.parent / "docs" / "python.md"
    text = document.read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 8
    os.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks:
        exec(compile(block, str(document), "exec"), names)
