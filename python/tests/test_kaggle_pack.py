"""Kaggle agents and submissions, without Kaggle's own package (see tests/kaggle for that)."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from claimeven import Network, Setup, kaggle


def observation(cells: int = 42) -> dict[str, object]:
    return {"board": [0] * cells, "mark": 1, "remainingOverageTime": 60}


@pytest.mark.parametrize("size", [(7, 6, 4), (5, 4, 3), (10, 9, 4), (4, 4, 5)])
def test_the_agent_plays_every_board(size: tuple[int, int, int]) -> None:
    columns, rows, inarow = size
    configuration = {"columns": columns, "rows": rows, "inarow": inarow, "actTimeout": 0.2}
    assert 0 <= kaggle.agent(observation(columns * rows), configuration) < columns


def test_a_packed_agent_needs_only_its_folder(tmp_path: Path) -> None:
    """It is loaded as Kaggle does, by a Python without the installed package or NumPy."""
    network = tmp_path / "own.safetensors"
    Network.untrained(Setup(), blocks=1, channels=8).save(network)
    for text, expected in (("perfect", "3"), (f"zero:sims=0,model={network}", None)):
        archive = kaggle.pack(text, tmp_path / "submission.tar.gz")
        assert archive.stat().st_size < kaggle.MAX_BYTES
        folder = tmp_path / "agent"
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
        main = folder / "main.py"
        program = f"""
import sys
sys.path = [path for path in sys.path if 'site-packages' not in path]
namespace = {{}}
text = open({str(main)!r}).read()
sys.path.append({str(folder)!r})
exec(compile(text, {str(main)!r}, 'exec'), namespace)
sys.path.pop()
agent = [value for value in namespace.values() if callable(value)][-1]
assert {str(folder)!r} not in sys.path
print(agent({observation()!r}, {{'columns': 7, 'rows': 6, 'inarow': 4, 'actTimeout': 2}}))
"""
        command = [sys.executable, "-I", "-c", program]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        assert result.stdout.strip() in ((expected,) if expected else tuple("0123456"))


def test_the_command_rejects_unknown_players(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert kaggle.main(["pack", "nobody", "-o", str(tmp_path / "x.tar.gz")]) == 2
    assert "unknown player 'nobody'" in capsys.readouterr().err
    assert kaggle.main(["pack", "level:3", "-o", str(tmp_path / "x.tar.gz")]) == 0
    assert "MB" in capsys.readouterr().out
