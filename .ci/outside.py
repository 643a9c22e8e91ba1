"""A preprocessor of mdBook for links and preambles.

Files outside of docs/ and folders are linked in the repository, README.md as the index.html that mdBook makes of it; the preamble of an EIP
becomes its title. A link to a page that is not on the site is an error.
"""

import json
import os
import posixpath
import re
import sys

TARGET = re.compile(r"(\]\(|^\[[^\]]+\]: )(?![a-z]+:|#)([^)\s#]+)", re.MULTILINE)
PREAMBLE = re.compile(r"\A---\n.*?^title: ([^\n]*)\n.*?^---\n", re.MULTILINE | re.DOTALL)


def chapters(items):
    for chapter in (item["Chapter"] for item in items if "Chapter" in item):
        yield chapter
        yield from chapters(chapter["sub_items"])


def moved(page, link, pages, repository):
    path = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    if not path.startswith("docs/") or os.path.isdir(path):
        return f"{repository}/{'tree' if os.path.isdir(path) else 'blob'}/main/{path}"
    if path.endswith(".md") and path.removeprefix("docs/") not in pages:
        sys.exit(f"docs/{page} links {link}, which is not on the site")
    return re.sub(r"(^|/)README\.md$", r"\1index.md", link)


if sys.argv[1:2] != ["supports"]:
    context, book = json.load(sys.stdin)
    repository = context["config"]["output"]["html"]["git-repository-url"]
    pages = {chapter["source_path"] for chapter in chapters(book["items"])}
    for chapter in chapters(book["items"]):
        page = chapter["source_path"]
        text = PREAMBLE.sub(lambda match: f"# {match[1]}\n", chapter["content"])
        chapter["content"] = TARGET.sub(lambda match, page=page: match[1] + moved(page, match[2], pages, repository), text)
    json.dump(book, sys.stdout)
