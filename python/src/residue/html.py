"""Display in notebooks: HTML with nothing loaded from elsewhere, in the colours of the page, light or dark."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from residue.code import Code
    from residue.program import Recorded
    from residue.results import Profile
    from residue.sweep import Sweep

ROWS_MAX = 400
"""Lines of a disassembly that are shown."""

_STYLE = """<style>
.residue{color:inherit;font-size:13px}
.residue table{border-collapse:collapse;color:inherit}
.residue th,.residue td{padding:1px 8px;text-align:left;border:0;background:none}
.residue th{border-bottom:1px solid rgba(128,128,128,.6)}
.residue td.n{text-align:right;font-variant-numeric:tabular-nums}
.residue code,.residue pre{color:inherit;background:none}
.residue .s{opacity:.65}
.residue .b{display:inline-block;height:.75em;background:rgba(64,128,220,.65);vertical-align:baseline}
.residue .scroll{max-height:28em;overflow:auto}
.residue svg{width:100%;height:auto}
.residue .flame-title{fill:currentColor}
</style>"""


def _number(value: Any) -> str:
    return "" if value is None else f"{value:,}".replace(",", "&#8239;")


def _cell(value: Any) -> str:
    if isinstance(value, Raw):
        return f"<td>{value}</td>"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f'<td class="n">{_number(value)}</td>' if is_number else f"<td>{escape('' if value is None else str(value))}</td>"


class Raw(str):
    """HTML, not text."""


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers stand at the right."""
    head = "".join(f"<th>{escape(heading)}</th>" for heading in headings)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _page(*parts: str) -> str:
    return f'<div class="residue">{_STYLE}{"".join(parts)}</div>'


def _bar(share: float) -> Raw:
    return Raw(f'<span class="b" style="width:{max(share, 0.0) * 12:.2f}em"></span>')


_FUNCTION = re.compile(r"^\s*function f\d+ (\".*\") \(")
_HEAD = re.compile(r"^(block|repeat|branch|countdown|sequence|call|\} else|turn|part) ?")
_OPERATION = re.compile(r"^v\d+ = (add|sub|mul) ")


def program(name: str, recorded: Recorded) -> str:
    """The blocks of a program, each with what it computes and where that stands, and its text below."""
    rows: list[list[Any]] = []
    for number, line in enumerate(recorded.text.splitlines()):
        text = line.strip()
        indent = Raw("&nbsp;" * (len(line) - len(text)))
        place = recorded.places[number] if number < len(recorded.places) else None
        shown = "" if place is None else place.replace("\\", "/").rsplit("/", 1)[-1]
        if found := _FUNCTION.match(line):
            rows.append([Raw(f"<b>{escape(found[1])}</b>"), None, None, None, shown])
        elif operation := _OPERATION.match(text):
            column = {"add": 1, "sub": 2, "mul": 3}[operation[1]]
            rows[-1][column] = (rows[-1][column] or 0) + 1
        elif head := _HEAD.match(text):
            what = head[1].replace("} else", "else")
            rows.append([Raw(f"{indent}{escape(what)}"), None, None, None, shown])
    operations = [sum(row[column] or 0 for row in rows) for column in (1, 2, 3)]
    summary = f"<p><b>{escape(name)}</b>: {operations[0]} additions, {operations[1]} subtractions, {operations[2]} products</p>"
    blocks = f'<div class="scroll">{table(["", "add", "sub", "mul", "from"], rows)}</div>'
    text = f'<details><summary>text</summary><pre class="scroll">{escape(recorded.text)}</pre></details>'
    return _page(summary, blocks, text)


def code(code: Code) -> str:
    """Report of code, and its disassembly beside the source."""
    report = code.report
    facts = {
        "interface": code.revision,
        "gas schedule": code.schedule,
        "bytes": report["code_bytes"],
        "slots": report.get("slots"),
        "field instructions": report.get("field_instructions"),
        "memory, bytes": report.get("memory_bytes"),
    }
    lines = code.disassembly()
    rows = []
    for pc, text, source in lines[:ROWS_MAX]:
        line = (source or "").rsplit("/", 1)[-1]
        rows.append((Raw(f'<span class="s">{pc:04x}</span>'), Raw(f"<code>{escape(text)}</code>"), line, _source(code, line)))
    more = f"<p>{len(lines) - ROWS_MAX} lines more</p>" if len(lines) > ROWS_MAX else ""
    listing = f'<div class="scroll">{table(["", "code", "from", "source"], rows)}</div>'
    head = f"<p><b>{escape(code.source.name)}</b></p>"
    return _page(head, table(list(facts), [list(facts.values())]), listing, more)


def _source(code: Code, line: str) -> Raw:
    name, _, number = line.rpartition(":")
    path = code.files.get(name)
    text = linecache.getline(path, int(number)).strip() if path and number.isdigit() else ""
    return Raw(f"<code>{escape(text)}</code>")


def profile(profile: Profile) -> str:
    """A flame graph, and the lines that cost most."""
    lines = profile.by_line()[:20]
    most = max((row["gas_with_callees"] for row in lines), default=1) or 1
    rows = [(row["name"], row["calls"], row["gas"], row["gas_with_callees"], _bar(row["gas_with_callees"] / most)) for row in lines]
    by_line = table(["line", "calls", "own gas", "gas with callees", ""], rows)
    return _page(profile.flame_graph(), by_line if rows else "")


def comparison(comparison: Sweep) -> str:
    """A table with bars of gas, and who was left out."""
    rows = comparison.compared
    names = {row.name for row in rows}
    inputs = {row.input for row in rows}
    most = max((row.gas or 0 for row in rows), default=1) or 1
    headings = ["interface", "schedule", "gas", "", "arithmetic", "code, bytes", "slots", "agrees"]
    cells = []
    for row in rows:
        about = ([row.name] if len(names) > 1 else []) + ([row.input] if len(inputs) > 1 else [])
        agrees = "yes" if row.agrees else "NO"
        bar = _bar((row.gas or 0) / most)
        cells.append([*about, row.revision, row.schedule, row.gas, bar, row.arithmetic, row.code_bytes, row.slots, agrees])
    before = (["program"] if len(names) > 1 else []) + (["input"] if len(inputs) > 1 else [])
    left_out = sorted({(row.revision, row.reason or "") for row in comparison.left_out})
    listed = "".join(f"<li>{escape(revision)}: {escape(reason)}</li>" for revision, reason in left_out)
    rest = f"<details><summary>{len(left_out)} left out</summary><ul>{listed}</ul></details>" if left_out else ""
    return _page(f'<div class="scroll">{table([*before, *headings], cells)}</div>', rest)
