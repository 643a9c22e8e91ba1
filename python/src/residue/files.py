"""Text of files."""

from __future__ import annotations

from pathlib import Path

from residue.errors import ResidueError


def read_text(path: str | Path) -> str:
    """The text of a file in UTF-8, without a byte order mark."""
    data = Path(path).read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ResidueError(f"{path} is UTF-16: save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ResidueError(f"{path} is no text in UTF-8: byte {error.start} is {data[error.start]:#04x}") from None
