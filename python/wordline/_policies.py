"""Policies of one's own: what a function is made of, so that results of one are never taken for those of another."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

#: Objects inside each other, at most: more is nothing that can be told.
LEVELS = 40
#: Letters of the digest.
DIGITS = 16

#: What is the same in every process.
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(Ellipsis))


class Unmade(Exception):
    """Why there is no policy: the parameter that is wrong or None, what was found, what is allowed."""


def bound(policy: Any, texts: dict[str, str]) -> Callable[[Any], Any]:
    """A function with its parameters, whose values are TOML; of a class an object, made with them."""
    import tomllib

    values = {name: tomllib.loads(f"value = {text}")["value"] for name, text in texts.items()}
    is_class = isinstance(policy, type)
    try:
        signature = inspect.signature(policy)
    except (TypeError, ValueError):
        signature = None
    if signature is not None:
        _check(policy, signature, values, is_class)
    if not is_class:
        return functools.partial(policy, **values) if values else policy
    made = policy(**values)
    if not callable(made):
        found = f"the class {policy.__qualname__}, whose objects cannot be called"
        raise Unmade(None, found, "a class with a method __call__(self, lane), or (self, unit) for stream")
    return made


def _check(policy: Any, signature: inspect.Signature, values: dict[str, Any], is_class: bool) -> None:
    """Refuses parameters that there are not, and what leaves one without a value."""
    name = getattr(policy, "__qualname__", repr(policy))
    all_of_them = list(signature.parameters.values())[0 if is_class else 1 :]
    named = [it.name for it in all_of_them if it.kind in (it.POSITIONAL_OR_KEYWORD, it.KEYWORD_ONLY)]
    takes_any = any(it.kind is it.VAR_KEYWORD for it in all_of_them)
    for parameter in values:
        if parameter not in named and not takes_any:
            allowed = ", ".join(named) if named else "no parameters"
            raise Unmade(parameter, f"no such parameter of {name}{signature}", allowed)
    try:
        signature.bind(*([] if is_class else [None]), **values)
    except TypeError as error:
        allowed = "one argument, the lane or the unit, and a value for each parameter"
        raise Unmade(None, f"{name}{signature}: {error}", allowed) from None


class _Unknown(Exception):
    """Something of which nobody can tell what it is made of."""


def fingerprint(policy: Any) -> str | None:
    """A digest of all that a policy can depend on: code, defaults, what it has closed over, the globals that it names
    and what these are made of, the versions of installed packages. None where that cannot be told."""
    try:
        told = _told(policy, [], LEVELS)
    except _Unknown:
        return None
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:DIGITS]


def _told(of: Any, above: list[int], levels: int) -> str:
    """All of an object as text."""
    if isinstance(of, PLAIN) and type(of) in PLAIN:
        return f"{type(of).__name__} {of!r}"
    if id(of) in above:
        # It leads back to itself: a function that calls itself.
        return f"above {above.index(id(of))}"
    if levels == 0:
        raise _Unknown
    above = [*above, id(of)]

    def deeper(inner: Any) -> str:
        return _told(inner, above, levels - 1)

    if isinstance(of, types.CodeType):
        parts = [of.co_code, of.co_names, of.co_varnames, of.co_freevars, of.co_flags, of.co_argcount]
        handlers = getattr(of, "co_exceptiontable", b"")
        return f"code {parts!r} {of.co_kwonlyargcount} {handlers!r} {deeper(of.co_consts)}"
    if isinstance(of, types.FunctionType):
        return _function(of, deeper)
    if isinstance(of, types.MethodType):
        return f"method {deeper(of.__func__)} {deeper(of.__self__)}"
    if isinstance(of, functools.partial):
        return f"partial {deeper(of.func)} {deeper(of.args)} {deeper(of.keywords)} {deeper(of.__dict__)}"
    if type(of) in (tuple, list):
        return f"{type(of).__name__} [{', '.join(map(deeper, of))}]"
    if type(of) in (set, frozenset):
        return f"{type(of).__name__} [{', '.join(sorted(map(deeper, of)))}]"
    if type(of) is dict:
        return f"dict [{', '.join(f'{deeper(key)}: {deeper(value)}' for key, value in of.items())}]"
    if isinstance(of, types.ModuleType):
        return _module(of)
    if installed := _installed(of):
        return installed
    if isinstance(of, type):
        return _class(of, deeper)
    if (array := _array(of)) is not None:
        return array
    return _object(of, deeper)


def _function(of: types.FunctionType, deeper: Callable[[Any], str]) -> str:
    if installed := _installed(of):
        return installed
    cells = []
    for cell in of.__closure__ or ():
        try:
            cells.append(deeper(cell.cell_contents))
        except ValueError:
            cells.append("empty")
    names = sorted(_names(of.__code__) & of.__globals__.keys())
    used = [f"{name} {deeper(of.__globals__[name])}" for name in names]
    rest = [of.__defaults__, of.__kwdefaults__, of.__dict__]
    return f"function {deeper(of.__code__)} {', '.join(map(deeper, rest))} {cells} {used}"


def _names(code: types.CodeType) -> set[str]:
    """Names of globals that it may ask for, and functions within it."""
    inner = [it for it in code.co_consts if isinstance(it, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _class(of: type, deeper: Callable[[Any], str]) -> str:
    hidden = ("__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__firstlineno__")
    # What copying leaves there.
    hidden += ("__slotnames__",)
    members = [f"{name} {deeper(value)}" for name, value in sorted(vars(of).items()) if name not in hidden]
    return f"class {of.__qualname__} {deeper(of.__bases__)} {members}"


def _object(of: Any, deeper: Callable[[Any], str]) -> str:
    """An object of a class in Python that keeps all of itself in sight."""
    wrapped = (staticmethod, classmethod, property)
    if isinstance(of, wrapped):
        inner = [of.fget, of.fset, of.fdel] if isinstance(of, property) else [of.__func__]
        return f"{type(of).__name__} {', '.join(map(deeper, inner))}"
    if hasattr(type(of), "__slots__") or not hasattr(of, "__dict__"):
        raise _Unknown
    # A class that is a dict, say, has more than its attributes.
    if any(base.__module__ == "builtins" and base is not object for base in type(of).__mro__):
        raise _Unknown
    if _installed(type(of)):
        raise _Unknown
    return f"object {deeper(type(of))} {deeper(vars(of))}"


def _array(of: Any) -> str | None:
    """An array or a number of numpy."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(of, numpy.ndarray | numpy.generic):
        return None
    if of.dtype.hasobject:
        raise _Unknown
    return f"array {of.dtype.str} {of.shape} {hashlib.sha256(numpy.ascontiguousarray(of).tobytes()).hexdigest()}"


def _package(name: str) -> str | None:
    """A package that is installed or of Python itself, with its version; None for code of the user's own."""
    if name == "builtins" or name in sys.stdlib_module_names:
        return f"python {sys.version}"
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) or ""
    if "site-packages" not in file and "dist-packages" not in file:
        return None
    from importlib import metadata

    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        version = getattr(module, "__version__", None)
        return f"{name} {version}" if isinstance(version, str) else None


def _module(of: types.ModuleType) -> str:
    """A module: a package's, or one of the user's, of which anything may be asked."""
    package = _package(of.__name__.partition(".")[0])
    if package is None:
        raise _Unknown
    return f"module {of.__name__} of {package}"


def _installed(of: Any) -> str | None:
    """What can be had of a package by its name; None for all else."""
    module, name = getattr(of, "__module__", None), getattr(of, "__qualname__", None) or getattr(of, "__name__", None)
    if isinstance(of, types.BuiltinFunctionType) and module is None:
        module = "builtins"
    if not isinstance(module, str) or not isinstance(name, str) or "<" in name:
        return None
    package = _package(module.partition(".")[0])
    if package is None:
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return f"{module}.{name} of {package}" if found is of else None
