"""The stubs say what is there: every name, and every argument."""

import ast
import inspect
from pathlib import Path

import wordline
from wordline import _core

STUBS = ast.parse((Path(wordline.__file__).parent / "_core.pyi").read_text())


def parameters(function: ast.FunctionDef) -> list[str]:
    args = function.args
    named = [arg.arg for arg in args.posonlyargs + args.args + args.kwonlyargs]
    return [name for name in named if name not in ("self", "cls")] + [
        arg.arg for arg in (args.vararg, args.kwarg) if arg is not None
    ]


def is_there(name: str) -> bool:
    return not name.startswith("__")


def test_names_are_those_of_the_module() -> None:
    told = {node.name for node in STUBS.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    assert told == {name for name in vars(_core) if is_there(name)}
    # What only the package itself needs.
    own = {"main", "sources", "tally", "SweepPlan", "SweepWorker"}
    assert set(wordline.__all__) - {"NotMet", "Sweep", "sweep", "plot"} == told - own


def test_members_and_arguments_are_those_of_the_classes() -> None:
    compared = 0
    for node in STUBS.body:
        if isinstance(node, ast.FunctionDef):
            found = inspect.signature(getattr(_core, node.name)).parameters
            assert sorted(parameters(node)) == sorted(found), node.name
        if not isinstance(node, ast.ClassDef) or node.name.endswith("Error"):
            continue
        of = getattr(_core, node.name)
        methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef)}
        there = {name for name in vars(of) if is_there(name)}
        assert {name for name in methods if is_there(name)} == there, node.name
        for name, method in methods.items():
            assert hasattr(of, name) or name == "__buffer__", f"{node.name}.{name}"
            is_property = any(isinstance(at, ast.Name) and at.id == "property" for at in method.decorator_list)
            if is_there(name) and not is_property:
                found = [each for each in inspect.signature(getattr(of, name)).parameters if each != "self"]
                assert sorted(parameters(method)) == sorted(found), f"{node.name}.{name}"
                compared += 1
    assert compared >= 25


def test_everything_is_documented() -> None:
    for name in wordline.__all__:
        of = getattr(wordline, name)
        assert inspect.getdoc(of), name
        for member, value in vars(of).items() if inspect.isclass(of) else ():
            if not member.startswith("_") and value is not None:
                assert inspect.getdoc(value), f"{name}.{member}"
