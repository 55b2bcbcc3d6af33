"""Kaggle ConnectX: built-in players as its agents, and submissions.

>>> from claimeven import kaggle
>>> kaggle.agent({'board': [0] * 42, 'mark': 1}, {'columns': 7, 'rows': 6, 'inarow': 4})
3

``claimeven kaggle pack level:10 -o submission.tar.gz`` (or ``python -m claimeven kaggle pack``) writes a submission.
"""

from __future__ import annotations

import io
import sys
import tarfile
from collections.abc import Callable, Mapping
from importlib import metadata, util
from pathlib import Path
from typing import TYPE_CHECKING, Any

from claimeven._native import Agent, Limits, Position, Setup

if TYPE_CHECKING:
    import os

MAX_BYTES = 100_000_000
"""The maximum size of a submission."""


def make_agent(text: str = "perfect", *, fallback: str = "mcts:sims=1000000") -> Callable[[Any, Any], int]:
    """A Kaggle agent that plays like a built-in player.

    It uses at most three quarters of the time per move and none of the overage time. The fallback plays boards that the
    player does not support or that are too large to be solved.
    """
    players: dict[Setup, Agent] = {}

    def agent(observation: Any, configuration: Any) -> int:
        """Chooses a column, counted from 0."""
        setup = Setup(
            int(_field(configuration, "columns", 7)),
            int(_field(configuration, "rows", 6)),
            int(_field(configuration, "inarow", 4)),
        )
        position = Position.from_kaggle([int(cell) for cell in _field(observation, "board", [])], setup)
        seconds = 0.75 * float(_field(configuration, "actTimeout", 2.0))
        is_solvable = setup.cells <= 42 or text.partition(":")[0] not in ("perfect", "level")
        player = players.get(setup)
        if player is None:
            player = Agent(text if is_solvable else fallback)
            try:
                player.decide(position, Limits(seconds=0.01))
            except ValueError:
                player = Agent(fallback)
            players[setup] = player
        return player.decide(position, Limits(seconds=seconds)).column - 1

    return agent


def _field(record: Any, name: str, default: Any) -> Any:
    """A field of an object or a dictionary, as runners pass either."""
    if isinstance(record, Mapping):
        return record.get(name, default)
    return getattr(record, name, default)


agent: Callable[[Any, Any], int] = make_agent()
"""An agent that plays perfectly."""

_MAIN = '''\
"""A ConnectX agent of the package claimeven: {agent}."""

import os
import sys

# The folder of this file is on the path only while it is loaded, so all imports are here.
_here = os.path.dirname(os.path.abspath(sys._getframe().f_code.co_filename))
sys.path.insert(0, _here)

from claimeven.kaggle import make_agent  # noqa: E402

sys.path.remove(_here)
_play = make_agent({agent!r}{models})


def agent(observation, configuration):
    return _play(observation, configuration)
'''


def pack(agent: str = "perfect", output: str | os.PathLike[str] = "submission.tar.gz") -> Path:
    """Writes a submission: main.py, and this package with its native module, books and network.

    Your own network (``zero:model=FILE``) is included.
    """
    text = Agent(agent).text  # Raises an error for an unknown player.
    output = Path(output)
    package = Path(__file__).parent
    native = util.find_spec("claimeven._native")
    if native is None or native.origin is None:
        raise RuntimeError("the native module of claimeven was not found")
    files: dict[str, bytes] = {}
    for path in sorted(package.rglob("*.py")):
        files[f"claimeven/{path.relative_to(package).as_posix()}"] = path.read_bytes()
    files[f"claimeven/{Path(native.origin).name}"] = Path(native.origin).read_bytes()
    models = ""
    name, model = _model_of(text)
    if model is not None:
        from claimeven._native import Network

        network = Network.load(model)
        saved = output.with_suffix(".safetensors.tmp")
        network.save(saved)
        files["network.safetensors"] = saved.read_bytes()
        saved.unlink()
        text = name
        models = ".replace('NETWORK', os.path.join(_here, 'network.safetensors'))"
    files["main.py"] = _MAIN.format(agent=text, models=models).encode()
    _write(output, files)
    size = output.stat().st_size
    if size > MAX_BYTES:
        output.unlink()
        raise ValueError(f"the submission has {size} bytes, more than Kaggle's {MAX_BYTES}")
    return output


def _model_of(text: str) -> tuple[str, str | None]:
    """The agent text with a placeholder for its model, and the model."""
    kind, _, parameters = text.partition(":")
    given = parameters.split(",") if parameters else []
    models = [value for value in given if value.startswith("model=")]
    if not models:
        return text, None
    others = [value for value in given if not value.startswith("model=")]
    return f"{kind}:" + ",".join([*others, "model=NETWORK"]), models[0].removeprefix("model=").strip('"')


def _write(output: Path, files: Mapping[str, bytes]) -> None:
    with tarfile.open(output, "w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(content))


def main(arguments: list[str] | None = None) -> int:
    """The command ``claimeven kaggle``."""
    import argparse

    parser = argparse.ArgumentParser(
        prog="claimeven kaggle", description="Kaggle ConnectX submissions."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    packing = commands.add_parser(
        "pack",
        help="write a submission with a built-in player",
        description="Write a submission: main.py, and the package with its native module, book and network.",
        epilog="Example: claimeven kaggle pack level:10 -o submission.tar.gz",
    )
    packing.add_argument("agent", help="player, such as perfect, level:8 or zero:sims=600")
    packing.add_argument("-o", "--output", default="submission.tar.gz", help="file to write")
    options = parser.parse_args(arguments)
    try:
        path = pack(options.agent, options.output)
    except (ValueError, OSError) as error:
        print(f"claimeven kaggle: {error}", file=sys.stderr)
        return 2
    version = metadata.version("claimeven")
    print(f"{path}: {options.agent}, claimeven {version}, {path.stat().st_size / 1e6:.1f} MB")
    return 0
