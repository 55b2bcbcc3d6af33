"""The command ``python -m claimeven``."""

from __future__ import annotations

import sys

_USAGE = """\
usage: claimeven kaggle pack AGENT -o submission.tar.gz   a Kaggle ConnectX submission
       claimeven bench [--json FILE] [NAME]               speed compared with other packages

This is the command of the Python package. The program of the same name that serves, plays and trains is built by cargo
from the same repository."""


def main(arguments: list[str] | None = None) -> int:
    """Runs a command."""
    arguments = sys.argv[1:] if arguments is None else arguments
    match arguments:
        case ["kaggle", *rest]:
            from claimeven import kaggle

            return kaggle.main(rest)
        case ["bench", *rest]:
            from claimeven import bench

            return bench.main(rest)
        case [] | ["-h" | "--help", *_]:
            print(_USAGE)
            return 0
        case [command, *_]:
            print(f"claimeven: unknown command '{command}'\n{_USAGE}", file=sys.stderr)
            return 2
    return 2


if __name__ == "__main__":
    sys.exit(main())
