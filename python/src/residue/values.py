"""Elements of fields and 256-bit words, as numbers and as what stands for them while a program is recorded.

A formula is written once, with operators. On numbers it computes; while a program is recorded the same operators write down what
the code will compute. An `Element` is an integer modulo the modulus of its field. A `Word` is an integer modulo 2^256, as on the
EVM's stack: counts, offsets and conditions, where 0 is false and all else true.
"""

from __future__ import annotations

import operator
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, cast

from residue.beside_numpy import BesideNumPy
from residue.errors import Halted
from residue.integers import has_members, is_number, refused, shown, truth, whole
from residue.machine import current, wrong

if TYPE_CHECKING:
    from residue.recorder import Region

WORD = 1 << 256
"""Words are below it."""

SIZE_MAX = 4096
"""Bytes of an element in calldata and output, at most."""

SMALL = 16
"""A product with a whole number up to this is recorded as additions; `compile(multiples=…)` may make products of them again."""


class Field:
    """The integers modulo a number above 2, which is prime if there is to be division.

    Calling it makes an element: `F(-3)`.
    """

    def __init__(self, modulus: SupportsIndex, name: str | None = None, size: SupportsIndex | None = None) -> None:
        """A field.

        Args:
            modulus: Elements are integers modulo this number.
            name: Its name in messages.
            size: Bytes of an element in calldata and output; as many 32-byte words as hold it without it.
        """
        self.modulus = whole(modulus, "the modulus of a field")
        if self.modulus < 3:
            raise refused(f"the modulus of a field is above 2, and {shown(self.modulus)} is not")
        if name is not None and not isinstance(name, str):
            raise wrong(f"the name of a field is text, and {shown(name)} is none: Field(modulus, name, size=…)")
        self.name = name or f"integers modulo {self.modulus:#x}"
        self.size = self.words_count * 32 if size is None else whole(size, "the size of an element in bytes", 1, SIZE_MAX)
        if 8 * self.size < self.bits:
            raise refused(f"{self.size} bytes do not hold a number of {self.bits} bits")

    @property
    def bits(self) -> int:
        """Bits of the modulus."""
        return self.modulus.bit_length()

    @property
    def spelt(self) -> str:
        """The modulus in the text form."""
        return f"{self.modulus:#x}"

    @property
    def words_count(self) -> int:
        """Words that hold an element."""
        return (self.bits + 255) // 256

    def __call__(self, number: SupportsIndex | Element) -> Element:
        """The element that an integer is."""
        if isinstance(number, Element):
            if number.field != self:
                raise wrong(f"an element of {number.field.name} is none of {self.name}: elements go between fields as words")
            return number
        if isinstance(number, Word):
            raise wrong("a word becomes an element by field.reduce(word), or field.element(word) if it is below the modulus")
        return Number(self, whole(number, f"an element of {self.name}"))

    def reduce(self, word: Word | SupportsIndex) -> Element:
        """The element that a word is modulo the modulus."""
        word = checked_word(word)
        if isinstance(word, WordValue):
            return current(word).reduce(self, word)
        return Number(self, int(word))

    def element(self, *words: Word | SupportsIndex) -> Element:
        """The element with the number that words are, the most significant first. The program halts if it is not below the modulus.

        There are as many words as hold an element.
        """
        known = [checked_word(word) for word in words]
        if len(known) != self.words_count:
            raise wrong(f"words that make an element of {self.name}: {self.words_count} are wanted, and {len(known)} given")
        recorded = [word for word in known if isinstance(word, WordValue)]
        if recorded:
            return current(recorded[0]).element_of(self, known)
        number = 0
        for word in known:
            number = number << 256 | int(word)
        if number >= self.modulus:
            raise Halted(f"{number:#x} is not below the modulus of {self.name}")
        return Number(self, number)

    @cached_property
    def is_prime(self) -> bool:
        """True if the modulus is a prime, by Miller and Rabin's test to the first 24 prime bases."""
        bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89)
        m = self.modulus
        if m in bases:
            return True
        if any(m % base == 0 for base in bases):
            return False
        twos = ((m - 1) & -(m - 1)).bit_length() - 1
        for base in bases:
            x = pow(base, (m - 1) >> twos, m)
            if x in (1, m - 1):
                continue
            for _ in range(twos - 1):
                x = x * x % m
                if x == m - 1:
                    break
            else:
                return False
        return True

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Field) and other.modulus == self.modulus

    def __hash__(self) -> int:
        return hash(self.modulus)

    def __repr__(self) -> str:
        return f"Field({self.modulus:#x})"


class Element(BesideNumPy):
    """An element of a field: a number (`Number`), or a value of a program that is recorded."""

    __slots__ = ("field",)
    field: Field

    def __int__(self) -> int:
        """The number, if it is known."""
        raise NotImplementedError

    def __index__(self) -> int:
        return int(self)

    def _coerced(self, other: Element | SupportsIndex) -> Element | None:
        if isinstance(other, Element):
            if other.field != self.field:
                raise wrong(f"an element of {self.field.name} meets one of {other.field.name}: elements go between fields as words")
            return other
        if isinstance(other, Word):
            raise wrong("an element meets a word: field.reduce(word) makes an element of it, element.word() a word")
        if not is_number(other):
            return None
        if truth(other) is not None:
            raise refused(f"an element meets {other!r}: when(condition, 1, 0) makes an element of a condition")
        return self.field(other)

    def __add__(self, other: Element | SupportsIndex) -> Element:
        y = self._coerced(other)
        return NotImplemented if y is None else _combined("add", self, y)

    def __sub__(self, other: Element | SupportsIndex) -> Element:
        y = self._coerced(other)
        return NotImplemented if y is None else _combined("sub", self, y)

    def __mul__(self, other: Element | SupportsIndex) -> Element:
        y = self._coerced(other)
        if y is None:
            return NotImplemented
        if isinstance(self, Value) and not isinstance(other, Element):
            # Not of the element, which may be a small number modulo the modulus and none as it is written.
            times = whole(other, "a multiple")
            if abs(times) <= SMALL:
                return _multiple(self, times)
        return _combined("mul", self, y)

    def __radd__(self, other: SupportsIndex) -> Element:
        y = self._coerced(other)
        return NotImplemented if y is None else _combined("add", y, self)

    def __rsub__(self, other: SupportsIndex) -> Element:
        y = self._coerced(other)
        return NotImplemented if y is None else _combined("sub", y, self)

    def __rmul__(self, other: SupportsIndex) -> Element:
        return self * other

    def __truediv__(self, other: Element | SupportsIndex) -> Element:
        y = self._coerced(other)
        return NotImplemented if y is None else self * y.inverse()

    def __rtruediv__(self, other: SupportsIndex) -> Element:
        y = self._coerced(other)
        return NotImplemented if y is None else y * self.inverse()

    def __neg__(self) -> Element:
        return _combined("sub", Number(self.field, 0), self)

    def __pos__(self) -> Element:
        return self

    def inverse(self) -> Element:
        """1 / self by Fermat: some `bits` squarings and a fifth as many products. That of 0 is 0: where it may not be, require(x != 0)."""
        if not self.field.is_prime:
            raise wrong(f"{self.field.name} has no division: its modulus is not prime")
        return _power(self, self.field.modulus - 2)

    def __pow__(self, exponent: SupportsIndex) -> Element:
        """The power, written out as squarings and products. A negative exponent needs a prime modulus."""
        if isinstance(exponent, Element | Word):
            raise wrong("an exponent is a whole number that is known: write repeat(...) over the bits of another")
        e = whole(exponent, "an exponent")
        return _power(self, e) if e >= 0 else _power(self.inverse(), -e)

    def __rpow__(self, other: object) -> Element:
        raise wrong("an element is no exponent: write repeat(...) over the bits of a word")

    def square(self) -> Element:
        """Self times self."""
        return self * self

    def is_zero(self) -> Condition:
        """True if it is 0."""
        return self == 0

    def is_odd(self) -> Condition:
        """True if its number, below the modulus, is odd."""
        raise NotImplementedError

    def word(self, number: SupportsIndex = 0) -> Word:
        """The word of its number that begins at bit 256 times `number`."""
        raise NotImplementedError

    def words(self) -> tuple[Word, ...]:
        """All words of its number, the most significant first."""
        return tuple(self.word(number) for number in reversed(range(self.field.words_count)))

    def _word_number(self, number: SupportsIndex) -> int:
        return whole(number, f"the number of a word of an element of {self.field.name}", 0, self.field.words_count - 1)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        raise NotImplementedError

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return NotImplemented if has_members(other) else not_(self == other)

    def __hash__(self) -> int:
        raise NotImplementedError

    def __lt__(self, other: object) -> bool:
        raise wrong("elements of a field have no order: compare their words, x.word() < y.word()")

    __le__ = __gt__ = __ge__ = __lt__


class Number(Element):
    """An element that is known."""

    __slots__ = ("value",)

    def __init__(self, field: Field, number: int) -> None:
        self.field = field
        self.value = number % field.modulus

    def is_odd(self) -> Condition:
        return self.value % 2 == 1

    def word(self, number: SupportsIndex = 0) -> Word:
        return WordNumber(self.value >> 256 * self._word_number(number))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Value):
            return NotImplemented
        if isinstance(other, Number):
            return other.field == self.field and other.value == self.value
        number = _known(other)
        return number is not None and number % self.field.modulus == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return self.value != 0

    def __int__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        return f"{self.value:#x}"


def _known(other: object) -> int | None:
    """The integer that an object is, for a comparison of what is known: what is none is unequal, as everywhere in Python."""
    if isinstance(other, Element | Word) or not hasattr(other, "__index__"):
        return None
    try:
        return operator.index(other)
    except (TypeError, ValueError):
        return None


def _only_later(self: Any) -> Any:
    raise wrong(
        "its value is known only when the code runs: in place of `if` write when(condition, then, otherwise), of `while` and "
        "`range` repeat(count, state, body), of `and`, `or` and `not` write &, | and not_(condition), of `assert` require(condition)"
    )


class Value(Element):
    """An element of a program that is recorded: known when the code runs."""

    __slots__ = ("operand", "region")

    def __init__(self, field: Field, operand: str, region: Region) -> None:
        self.field = field
        self.operand = operand
        self.region = region

    def is_odd(self) -> Condition:
        return current(self).is_odd(self)

    def word(self, number: SupportsIndex = 0) -> Word:
        return current(self).word_of(self, self._word_number(number))

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        y = None if other is None else self._coerced(cast("int", other))
        return NotImplemented if y is None else current(self).equal(self, y)

    __bool__ = __int__ = __index__ = __iter__ = __float__ = _only_later

    def __repr__(self) -> str:
        return f"<{self.operand} of {self.field.name}>"


def _combined(kind: str, x: Element, y: Element) -> Element:
    if isinstance(x, Number) and isinstance(y, Number):
        a, b = x.value, y.value
        return Number(x.field, a + b if kind == "add" else a - b if kind == "sub" else a * b)
    return current(x, y).operation(kind, x, y)


def _multiple(x: Value, k: int) -> Element:
    """K times x by additions."""
    if k == 0:
        return Number(x.field, 0)
    total: Element = x
    for bit in bin(abs(k))[3:]:
        total = total + total
        if bit == "1":
            total = total + x
    return total if k > 0 else -total


def _windows(e: int, width: int) -> list[tuple[int, int]]:
    """Windows of an exponent above 0, the most significant first: an odd number to multiply by, and squarings after it."""
    bits, at, windows = bin(e)[2:], 0, list[tuple[int, int]]()
    while at < len(bits):
        if bits[at] == "0":
            odd, squarings = windows[-1]
            windows[-1] = odd, squarings + 1
            at += 1
            continue
        end = min(at + width, len(bits))
        while bits[end - 1] == "0":
            end -= 1
        if windows:
            odd, squarings = windows[-1]
            windows[-1] = odd, squarings + end - at
        windows.append((int(bits[at:end], 2), 0))
        at = end
    return windows


def _power(x: Element, e: int) -> Element:
    """The power in sliding windows, as wide as takes fewest products."""
    if isinstance(x, Number):
        return Number(x.field, pow(x.value, e, x.field.modulus))
    if e == 0:
        return Number(x.field, 1)
    chains = [_windows(e, width) for width in range(1, 9)]
    windows = min(chains, key=lambda chain: len(chain) + max(odd for odd, _ in chain) // 2)
    largest = max(odd for odd, _ in windows)
    odds = [x]
    if largest > 1:
        square = x * x
        for _ in range(largest // 2):
            odds.append(odds[-1] * square)
    power: Element | None = None
    for odd, squarings in windows:
        power = odds[odd // 2] if power is None else power * odds[odd // 2]
        for _ in range(squarings):
            power = power * power
    return cast("Element", power)


class Word(BesideNumPy):
    """A 256-bit word: a number (`WordNumber`), or a word of a program that is recorded.

    Operators are those of the EVM: results are taken modulo 2^256, and a division by 0 gives 0. Comparisons give a condition.
    """

    __slots__ = ()

    def __int__(self) -> int:
        """The number, if it is known."""
        raise NotImplementedError

    def __index__(self) -> int:
        return int(self)

    def __add__(self, other: Word | SupportsIndex) -> Word:
        return _word("add", self, other)

    def __sub__(self, other: Word | SupportsIndex) -> Word:
        return _word("sub", self, other)

    def __mul__(self, other: Word | SupportsIndex) -> Word:
        return _word("mul", self, other)

    def __floordiv__(self, other: Word | SupportsIndex) -> Word:
        return _word("div", self, other)

    def __truediv__(self, other: object) -> Word:
        raise wrong("words are whole: write // for a quotient, or field.reduce(word) for a division in a field")

    __rtruediv__ = __truediv__

    def __pow__(self, other: object) -> Word:
        raise wrong("words have no powers: w * w, or 1 << w for those of 2")

    __rpow__ = __pow__

    def __mod__(self, other: Word | SupportsIndex) -> Word:
        return _word("mod", self, other)

    def __and__(self, other: Word | SupportsIndex) -> Word:
        return _word("and", self, other)

    def __or__(self, other: Word | SupportsIndex) -> Word:
        return _word("or", self, other)

    def __xor__(self, other: Word | SupportsIndex) -> Word:
        return _word("xor", self, other)

    def __lshift__(self, other: Word | SupportsIndex) -> Word:
        return _word("shl", self, other)

    def __rshift__(self, other: Word | SupportsIndex) -> Word:
        return _word("shr", self, other)

    def __radd__(self, other: SupportsIndex) -> Word:
        return _word("add", other, self)

    def __rsub__(self, other: SupportsIndex) -> Word:
        return _word("sub", other, self)

    def __rmul__(self, other: SupportsIndex) -> Word:
        return _word("mul", other, self)

    def __rfloordiv__(self, other: SupportsIndex) -> Word:
        return _word("div", other, self)

    def __rmod__(self, other: SupportsIndex) -> Word:
        return _word("mod", other, self)

    def __rand__(self, other: SupportsIndex) -> Word:
        return _word("and", other, self)

    def __ror__(self, other: SupportsIndex) -> Word:
        return _word("or", other, self)

    def __rxor__(self, other: SupportsIndex) -> Word:
        return _word("xor", other, self)

    def __rlshift__(self, other: SupportsIndex) -> Word:
        return _word("shl", other, self)

    def __rrshift__(self, other: SupportsIndex) -> Word:
        return _word("shr", other, self)

    def __invert__(self) -> Word:
        return _word("xor", self, WORD - 1)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        raise NotImplementedError

    def __ne__(self, other: object) -> Condition:  # type: ignore[override]
        return NotImplemented if has_members(other) else not_(self == other)

    def __hash__(self) -> int:
        raise NotImplementedError

    def __lt__(self, other: Word | SupportsIndex) -> Condition:
        return _condition("lt", self, other)

    def __gt__(self, other: Word | SupportsIndex) -> Condition:
        return _condition("lt", other, self)

    def __le__(self, other: Word | SupportsIndex) -> Condition:
        return _condition("lt", other, self, negated=True)

    def __ge__(self, other: Word | SupportsIndex) -> Condition:
        return _condition("lt", self, other, negated=True)

    def byte(self, index: Word | SupportsIndex) -> Word:
        """Byte `index`, the most significant first; 0 beyond the 32."""
        return _word("byte", self, checked_word(index))

    def bit(self, index: Word | SupportsIndex) -> Word:
        """Bit `index`, the least significant first."""
        return (self >> checked_word(index)) & 1

    def bind(self) -> Word:
        """Itself, computed here and kept: for what is used more than once, since an expression is computed wherever it is used."""
        return self

    def first(self, size: Word | SupportsIndex) -> tuple[Word, Word | SupportsIndex]:
        """Its first `size` bytes, to be hashed."""
        return self, size


class WordNumber(Word):
    """A word that is known."""

    __slots__ = ("value",)

    def __init__(self, number: int) -> None:
        self.value = number % WORD

    def __eq__(self, other: object) -> bool:
        if isinstance(other, WordValue):
            return NotImplemented
        number = other.value if isinstance(other, WordNumber) else _known(other)
        return number is not None and number == self.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __bool__(self) -> bool:
        return self.value != 0

    def __int__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        return f"word({self.value:#x})"


class WordValue(Word):
    """A word of a program that is recorded: known when the code runs. `below` is a number that it is always below."""

    __slots__ = ("below", "index", "is_condition", "parts", "region")

    def __init__(self, index: int, region: Region, parts: int, is_condition: bool, below: int = WORD) -> None:
        self.index = index
        self.region = region
        self.parts = parts
        self.is_condition = is_condition
        self.below = 2 if is_condition else below

    def bind(self) -> Word:
        return current(self).bind(self)

    def __eq__(self, other: object) -> Condition:  # type: ignore[override]
        is_value = is_number(other) and other is not None
        return _condition("eq", self, cast("int", other)) if is_value or isinstance(other, Word) else NotImplemented

    def __invert__(self) -> Word:
        if self.is_condition:
            raise wrong("~ of a condition is never 0: write not_(condition)")
        return super().__invert__()

    __bool__ = __int__ = __index__ = __iter__ = __float__ = _only_later

    def __repr__(self) -> str:
        return f"<w{self.index}>"


Condition = Word | bool
"""Condition of `when` and `require`: 0 is false, all else true."""


def word(number: SupportsIndex) -> Word:
    """The word that a number is modulo 2^256; True is 1, and False 0."""
    known = truth(number)
    return WordNumber(whole(number, "a word") if known is None else known)


def not_(condition: Condition | SupportsIndex) -> Condition:
    """1 if the condition is 0, else 0."""
    return _condition("eq", checked_word(condition), 0)


def bind(word: Condition | SupportsIndex) -> Word:
    """The word or condition, computed here and kept: for what is used more than once."""
    return checked_word(word).bind()


def checked_word(number: Word | SupportsIndex) -> Word:
    """A word, if it is one: a truth is, and so is a whole number from 0 to 2^256 − 1."""
    if isinstance(number, Word):
        return number
    if isinstance(number, Element):
        raise wrong("a word meets an element: element.word() makes a word of it")
    known = truth(number)
    return WordNumber(whole(number, "a word", 0, WORD - 1) if known is None else known)


def _computed(op: str, a: int, b: int) -> int:
    match op:
        case "add":
            return a + b
        case "sub":
            return a - b
        case "mul":
            return a * b
        case "div":
            return a // b if b else 0
        case "mod":
            return a % b if b else 0
        case "and":
            return a & b
        case "or":
            return a | b
        case "xor":
            return a ^ b
        case "shl":
            return a << b if b < 256 else 0
        case "shr":
            return a >> b if b < 256 else 0
        case "byte":
            return a >> 8 * (31 - b) & 0xFF if b < 32 else 0
        case "lt":
            return int(a < b)
        case _:
            return int(a == b)


def below(word: Word) -> int:
    """A number that a word is below, whatever the input."""
    return word.below if isinstance(word, WordValue) else int(word) + 1


def below_result(op: str, a: Word, b: Word) -> int:
    """A number that the result of an operation is below, from what its words are below."""
    x, y = below(a) - 1, below(b) - 1
    known = int(b) if isinstance(b, WordNumber) else None
    most = WORD - 1
    match op:
        case "add":
            most = x + y
        case "mul":
            most = x * y
        case "div":
            most = x if known is None else _computed("div", x, known)
        case "mod":
            most = min(x, max(y - 1, 0))
        case "and":
            most = min(x, y)
        case "or" | "xor":
            most = (1 << max(x.bit_length(), y.bit_length())) - 1
        case "shl" if known is not None:
            most = _computed("shl", x, known)
        case "shr":
            most = x if known is None else _computed("shr", x, known)
        case "byte":
            most = 255
        case "lt" | "eq":
            most = 1
    return most + 1 if most < WORD else WORD


def _word(op: str, a: Word | SupportsIndex, b: Word | SupportsIndex) -> Word:
    if has_members(a) or has_members(b):
        return cast("Word", NotImplemented)
    x, y = checked_word(a), checked_word(b)
    if isinstance(x, WordNumber) and isinstance(y, WordNumber):
        return WordNumber(_computed(op, x.value, y.value))
    return current(x, y).word_op(op, x, y)


def _condition(op: str, a: Condition | SupportsIndex, b: Word | SupportsIndex, negated: bool = False) -> Condition:
    result = _word(op, a, b)
    if result is NotImplemented:
        return cast("Word", result)
    condition = bool(result.value) if isinstance(result, WordNumber) else result
    return not_(condition) if negated else condition
