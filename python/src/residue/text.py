"""A recording as text, and where each line of it comes from."""

from __future__ import annotations

from residue.recorder import Function, Recorder, Region, Unit, written


def text_of(recorder: Recorder) -> tuple[str, list[str | None]]:
    """The text, and the place in the Python source of each of its lines."""
    writer = _Writer()
    main = recorder.units[0]
    writer.line(f"program {written(recorder.name)}")
    writer.line(f"modulus {main.field.spelt}")
    for number, name in enumerate(recorder.variables):
        writer.line(f"variable x{number} {written(name)}")
    for number, unit in enumerate(recorder.units[1:]):
        writer.line(f"subprogram p{number} {written(unit.name)} modulus {unit.field.spelt} {{")
        writer.depth += 1
        writer.unit(unit)
        writer.depth -= 1
        writer.line("}")
    writer.unit(main)
    return "\n".join(writer.lines) + "\n", writer.places


class _Writer:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.places: list[str | None] = []
        self.depth = 0

    def line(self, text: str, place: str | None = None) -> None:
        self.lines.append("  " * self.depth + text)
        self.places.append(place)

    def unit(self, unit: Unit) -> None:
        for value, number in unit.constants.items():
            self.line(f"constant c{number} = {value:#x}")
        for lines, place in unit.declared:
            for text in lines:
                self.line(text, place)
        for number, function in enumerate(unit.functions):
            self.function(number, function)

    def function(self, number: int, function: Function) -> None:
        params, results = " ".join(function.params), " ".join(function.results)
        head = f"function f{number} {written(function.name)} ({params}) -> ({results}) values {function.values} {{"
        self.line(head, function.place)
        self.depth += 1
        for index, (text, place) in enumerate(function.words):
            self.line(f"word w{index} = {text}", place)
        for index, (name, around) in enumerate(function.stretches):
            within = "" if around is None else f" in s{around}"
            self.line(f"stretch s{index} {written(name)}{within}")
        self.region(function.body)
        self.depth -= 1
        self.line("}")

    def region(self, region: Region) -> None:
        """Its statements; operations that follow each other are a block."""
        stretch: int | None = None
        in_block = False
        for item in region.items:
            is_operation = isinstance(item, tuple) and "=" in item[0].split(" ", 2)[1:2]
            if in_block and not is_operation:
                self.depth -= 1
                self.line("}")
                in_block = False
            if isinstance(item, Region):
                self.depth += 1
                self.region(item)
                self.depth -= 1
                continue
            text, place, of = item
            if is_operation and not in_block:
                self.line("block {", place)
                self.depth += 1
                in_block, stretch = True, None
            if is_operation and of != stretch:
                self.line("of none" if of is None else f"of s{of}")
                stretch = of
            self.line(text, place)
        if in_block:
            self.depth -= 1
            self.line("}")
