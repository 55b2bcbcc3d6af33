"""Whole episodes of a packed submission in Kaggle's own environment."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

kaggle_environments = pytest.importorskip("kaggle_environments")

SIZES = [(7, 6, 4), (5, 4, 3), (8, 7, 4), (9, 7, 5), (4, 5, 4)]


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The submission as Kaggle unpacks it, in an empty folder."""
    folder = tmp_path_factory.mktemp("submission")
    archive = folder / "submission.tar.gz"
    command = [sys.executable, "-m", "claimeven", "kaggle", "pack", "perfect", "-o", archive]
    subprocess.run(command, check=True)
    assert archive.stat().st_size < 100_000_000
    with tarfile.open(archive) as packed:
        packed.extractall(folder / "agent", filter="data")
    return folder / "agent" / "main.py"


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("opponent", ["negamax", "random"])
def test_episodes_end_without_errors(submission: Path, size: tuple[int, int, int], opponent: str) -> None:
    """50 games in all, half of them as second player."""
    columns, rows, inarow = size
    configuration = {"columns": columns, "rows": rows, "inarow": inarow, "actTimeout": 2}
    results = []
    for game in range(5):
        env = kaggle_environments.make("connectx", configuration, debug=False)
        agents = [str(submission), opponent]
        place = game % 2
        steps = env.run(agents if place == 0 else agents[::-1])
        last = steps[-1]
        assert [state["status"] for state in last] == ["DONE", "DONE"], last
        results.append(last[place]["reward"])
    assert sum(results) > 0


def test_the_packed_files_are_sufficient(submission: Path) -> None:
    """Without the installed package, and with the folder on the path only while the file is loaded."""
    program = f"""
import sys
sys.path = [path for path in sys.path if 'site-packages' not in path]
namespace = {{}}
text = open({str(submission)!r}).read()
sys.path.append({str(submission.parent)!r})
exec(compile(text, {str(submission)!r}, 'exec'), namespace)
sys.path.pop()
agent = [value for value in namespace.values() if callable(value)][-1]
print(agent({{'board': [0] * 42, 'mark': 1}}, {{'columns': 7, 'rows': 6, 'inarow': 4, 'actTimeout': 2}}))
"""
    result = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "3"
