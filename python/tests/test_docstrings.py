"""The examples in the docstrings of the native classes run; those of the modules are collected by pytest itself."""

import doctest

import pytest

import claimeven
from claimeven import _native

CLASSES = [value for value in vars(_native).values() if isinstance(value, type)]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_examples_of_a_class_run(cls: type) -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for example in finder.find(cls, cls.__name__, module=False, globs={}):  # type: ignore[arg-type]
        runner.run(example)
    assert runner.failures == 0


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_everything_public_has_a_docstring(cls: type) -> None:
    assert cls.__doc__
    for name, value in vars(cls).items():
        if not name.startswith("_"):
            assert value.__doc__, f"{cls.__name__}.{name}"


def test_everything_in_all_exists() -> None:
    for name in claimeven.__all__:
        assert getattr(claimeven, name).__doc__
