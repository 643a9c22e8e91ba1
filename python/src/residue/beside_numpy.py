"""Elements and words beside NumPy's numbers and arrays: an array is taken by its members, whole numbers as Python has them."""

from __future__ import annotations

import operator
from typing import Any

_OPERATORS = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "true_divide": operator.truediv,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    "power": operator.pow,
    "left_shift": operator.lshift,
    "right_shift": operator.rshift,
    "bitwise_and": operator.and_,
    "bitwise_or": operator.or_,
    "bitwise_xor": operator.xor,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}


class BesideNumPy:
    """Base of classes with operators that accept NumPy's numbers and arrays on the left."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """An operator of NumPy, on objects: comparisons give what ours give, and no number becomes a machine's."""
        operation = _OPERATORS.get(ufunc.__name__)
        if operation is None:
            return NotImplemented
        import numpy

        def boxed(value: Any) -> Any:
            if not isinstance(value, BesideNumPy):
                return value
            box = numpy.empty((), object)
            box[()] = value
            return box

        on_objects: Any = getattr(numpy.frompyfunc(operation, 2, 1), method)
        return on_objects(*map(boxed, inputs), **options)
