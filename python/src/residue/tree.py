"""Trees of values: tuples, lists, dicts and objects of small classes, taken apart into their elements and words and put together again."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Number as AnyNumber
from typing import Any

from residue.integers import has_members, refused, shown, truth, whole
from residue.machine import wrong
from residue.values import Element, Word

Leaf = Element | Word | int
"""Operand of a program: a number is an element, or a word where a word is required."""


DEPTH_MAX = 64
"""Objects within objects, at most."""


@dataclass(frozen=True)
class Shape:
    """Shape of a tree: the kind of a node, its keys, and the shapes below. A leaf has the kind `leaf`.

    What is no leaf and holds none (a name, a function, a field) is part of the shape.
    """

    kind: Any
    keys: tuple[Any, ...] = ()
    below: tuple[Shape, ...] = ()
    model: Any = None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shape) or (self.kind, self.keys) != (other.kind, other.keys):
            return False
        if self.kind == "static":
            return bool(self.model is other.model or self.model == other.model)
        return self.below == other.below

    def __hash__(self) -> int:
        return hash((str(self.kind), len(self.below)))

    def __str__(self) -> str:
        if self.kind == "leaf":
            return "·"
        if self.kind == "static":
            return repr(self.model)
        name = getattr(self.kind, "__name__", str(self.kind))
        return f"{name}({', '.join(map(str, self.below))})"


_LEAF = Shape("leaf")


def _leaf(value: Any) -> Leaf | None:
    """The value as an operand of a program, if it is one: whole numbers of any kind as `int`."""
    if isinstance(value, Element | Word | int):
        return value
    if isinstance(value, type) or has_members(value):
        return None
    known = truth(value)
    if known is not None:
        return known
    return whole(value, "a number of a program") if hasattr(value, "__index__") else None


def flatten(value: Any) -> tuple[list[Leaf], Shape]:
    """The leaves of a tree in order, and how they stand in it."""
    leaves: list[Leaf] = []
    return leaves, _shape(value, leaves, DEPTH_MAX)


def unflatten(shape: Shape, leaves: list[Any]) -> Any:
    """A tree of this shape with other leaves."""
    return _tree(shape, iter(leaves))


def map_leaves(change: Callable[[Leaf], Any], value: Any) -> Any:
    """The tree with each leaf changed."""
    leaves, shape = flatten(value)
    return unflatten(shape, [change(leaf) for leaf in leaves])


def _is_ours(module: str) -> bool:
    """True if a class is of this package: arrays, tables and calldata are no values."""
    return module.startswith("residue.") and not module.startswith("residue.gallery")


def _attributes(value: Any) -> list[str]:
    slots = [name for kind in type(value).__mro__ for name in _slots(kind)]
    return [*getattr(value, "__dict__", {}), *(name for name in slots if hasattr(value, name))]


def _slots(kind: type) -> list[str]:
    slots = kind.__dict__.get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    return [name for name in names if name not in ("__dict__", "__weakref__")]


def _shape(value: Any, leaves: list[Leaf], depth: int) -> Shape:
    if depth == 0:
        raise wrong(f"a tree of more than {DEPTH_MAX} levels is no value, nor is an object that contains itself")
    leaf = _leaf(value)
    if leaf is not None:
        leaves.append(leaf)
        return _LEAF
    if isinstance(value, AnyNumber):
        raise refused(f"a program computes with whole numbers, elements and words, and {shown(value)} is none")
    if has_members(value):
        members = value.ravel().tolist()
        return Shape("array", value.shape, tuple(_shape(one, leaves, depth - 1) for one in members))
    if isinstance(value, tuple | list):
        return Shape(type(value), (len(value),), tuple(_shape(one, leaves, depth - 1) for one in value))
    if isinstance(value, dict):
        return Shape(dict, tuple(value), tuple(_shape(one, leaves, depth - 1) for one in value.values()))
    if isinstance(value, type) or callable(value):
        return Shape("static", model=value)
    if _is_ours(type(value).__module__):
        return Shape("static", model=value)
    names = _attributes(value)
    before = len(leaves)
    below = tuple(_attribute(getattr(value, name), leaves, depth - 1) for name in names)
    if len(leaves) == before:
        return Shape("static", model=value)
    return Shape(type(value), tuple(names), below, value)


def _attribute(value: Any, leaves: list[Leaf], depth: int) -> Shape:
    """An attribute of an object, which may be a number that no program computes with."""
    is_aside = isinstance(value, AnyNumber) and _leaf(value) is None
    return Shape("static", model=value) if is_aside else _shape(value, leaves, depth)


def dropped(shape: Shape) -> Any:
    """A member of tuples, lists and dicts that is no element and no word, in a list; an empty one if there is none."""
    if shape.kind == "static":
        return [shape.model]
    is_plain = shape.kind in (dict, "array") or (isinstance(shape.kind, type) and issubclass(shape.kind, tuple | list))
    return next((found for one in shape.below if (found := dropped(one))), []) if is_plain else []


def _tree(shape: Shape, leaves: Iterator[Any]) -> Any:
    if shape.kind == "leaf":
        return next(leaves)
    if shape.kind == "static":
        return shape.model
    below = [_tree(one, leaves) for one in shape.below]
    if shape.kind == "array":
        import numpy

        array = numpy.empty(len(below), object)
        array[:] = below
        return array.reshape(shape.keys)
    if shape.kind is dict:
        return dict(zip(shape.keys, below, strict=True))
    if issubclass(shape.kind, tuple | list):
        is_named = hasattr(shape.kind, "_fields")
        return shape.kind(*below) if is_named else shape.kind(below)
    made = copy.copy(shape.model)
    for name, one in zip(shape.keys, below, strict=True):
        object.__setattr__(made, name, one)
    return made
