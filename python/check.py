"""Builds the package, installs it into its own virtual environment, and tests it there.

    python3 python/check.py              pytest, doctests, mypy, stubtest, notebooks
    python3 python/check.py --workspace  the same, as `cargo xtask test` runs it
    python3 python/check.py --peers      compare with OpenSpiel, Kaggle and bitbully, as `cargo xtask python-peers` does

The environments are kept in the target folder and recreated when their requirements change.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent / "target")).resolve()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="compare with other packages instead")
    parser.add_argument("--release", action="store_true", help="build the package with optimisation, as for users")
    parser.add_argument(
        "--workspace",
        action="store_true",
        help="build with the features of the whole workspace, so that its tests share the compiled dependencies",
    )
    options = parser.parse_args()
    if sys.version_info < (3, 10):
        print(f"python: 3.10 or later is needed, this is {sys.version.split()[0]}", file=sys.stderr)
        return 1
    try:
        if options.peers:
            check_peers()
        else:
            check(options)
    except subprocess.CalledProcessError as error:
        print(f"python: failed: {' '.join(map(str, error.cmd))}", file=sys.stderr)
        return 1
    return 0


def check(options: argparse.Namespace) -> None:
    python = environment("test", HERE / "requirements-test.txt")
    install(python, build_with_workspace(python) if options.workspace else build(python, options.release))
    tests = [python, "-m", "pytest", "-rs", "--durations=8", "--doctest-modules", "--pyargs", "claimeven", HERE / "tests"]
    run("pytest", [*tests, *(f"--ignore={HERE / 'tests' / name}" for name in ("peers", "kaggle"))])
    run("mypy", [python, "-m", "mypy", "--config-file", HERE / "pyproject.toml", "-p", "claimeven"])
    run("stubtest", [python, "-m", "mypy.stubtest", "claimeven._native", "--concise"])


def check_peers() -> None:
    python = environment("peers", HERE / "requirements-peers.txt")
    wheel = build(environment("test", HERE / "requirements-test.txt"), release=True)
    install(python, wheel)
    run("peers", [python, "-m", "pytest", str(HERE / "tests" / "peers")])
    # Kaggle's package pins dependencies that are not needed here.
    kaggle = environment("kaggle", HERE / "requirements-kaggle.txt", "--no-deps")
    install(kaggle, wheel)
    run("kaggle", [kaggle, "-m", "pytest", str(HERE / "tests" / "kaggle")])


def environment(name: str, requirements: Path, *options: str) -> Path:
    """The Python of a virtual environment with these packages."""
    folder = TARGET / "python" / name
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp = folder / "requirements.sha256"
    expected = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    if not stamp.exists() or stamp.read_text() != expected:
        shutil.rmtree(folder, ignore_errors=True)
        run(f"environment {name}", [sys.executable, "-m", "venv", folder])
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        run("requirements", [*pip, *options, "--requirement", requirements])
        stamp.write_text(expected)
    return python


def build(python: Path, release: bool) -> Path:
    """Builds the wheel and returns it."""
    wheels = TARGET / "python" / "wheels"
    shutil.rmtree(wheels, ignore_errors=True)
    profile = "release" if release else "dev"
    maturin = [python, "-m", "maturin", "build", "--quiet", "--profile", profile, "--out", wheels]
    run("wheel", [*maturin, "--interpreter", sys.executable], cwd=HERE)
    (wheel,) = wheels.glob("*.whl")
    return wheel


def build_with_workspace(python: Path) -> Path:
    """Builds the library with the features of the whole workspace, and the wheel from it.

    Maturin builds a single package, whose dependencies have fewer features than in the workspace's tests, so that all of
    them would be compiled a second time. Here only its metadata is used, and the library is added to the wheel.
    """
    targets = ["--lib", "--bins", "--tests"]
    run("library", ["cargo", "build", "--quiet", "--workspace", "--all-features", *targets], cwd=HERE.parent)
    folder = TARGET / "python" / "wheels"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    maturin = [python, "-m", "maturin", "pep517", "write-dist-info", "--metadata-directory", folder]
    run("metadata", [*maturin, "--interpreter", sys.executable], cwd=HERE)
    (metadata,) = folder.glob("*.dist-info")
    prefix, suffix, ending = {
        "win32": ("", ".dll", ".pyd"),
        "darwin": ("lib", ".dylib", ".abi3.so"),
    }.get(sys.platform, ("lib", ".so", ".abi3.so"))
    files = {f"claimeven/_native{ending}": TARGET / "debug" / f"{prefix}claimeven_python{suffix}"}
    for root, paths in ((HERE, HERE.glob("claimeven/**/*")), (folder, metadata.glob("**/*"))):
        files.update({path.relative_to(root).as_posix(): path for path in paths if is_packed(path)})
    tags = (metadata / "WHEEL").read_text().partition("Tag: ")[2].split()[0]
    wheel = folder / f"{metadata.name.removesuffix('.dist-info')}-{tags}.whl"
    record = f"{metadata.name}/RECORD"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, path in files.items():
            archive.write(path, name)
        archive.writestr(record, "".join(f"{name},,\n" for name in [*files, record]))
    return wheel


def is_packed(path: Path) -> bool:
    """Whether a file belongs in the wheel; libraries built in place do not."""
    return path.is_file() and path.name != "RECORD" and path.suffix not in (".pyc", ".so", ".pyd")


def install(python: Path, wheel: Path) -> None:
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run("install", [*pip, "--no-deps", "--force-reinstall", wheel])


def run(name: str, command: list[str | Path], cwd: Path | None = None) -> None:
    start = time.monotonic()
    variables = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    # From a folder without the package's source, so that the installed one is found.
    subprocess.run(command, check=True, cwd=cwd or TARGET, env=variables)
    print(f"python: {name} {time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
