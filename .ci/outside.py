"""A preprocessor of mdBook for links and preambles.

A program in the text form has the page under it, if .ci/page has built that: the page with the program in its address. Files outside of docs/ and folders are linked in the repository, README.md as the index.html that mdBook makes of it; the preamble of an EIP
becomes its title. The report of `residue lab report`, where .ci/book has made it, is the last chapter. A link to a page that is not on the site is an error.
"""

import base64
import json
import os
import posixpath
import re
import sys
import zlib

REPORT = "target/report/report.md"
TARGET = re.compile(r"(\]\(|^\[[^\]]+\]: )(?![a-z]+:|#)([^)\s#]+)", re.MULTILINE)
PROGRAM = re.compile(r"^```ir\n((?:#[^\n]*\n)*program \".*?)^```\n", re.MULTILINE | re.DOTALL)
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


def with_page(page, match):
    """A program, and the page of it in a frame that is loaded once it is scrolled to."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    state = json.dumps({"text": match[1]}).encode()
    fragment = base64.urlsafe_b64encode(packed.compress(state) + packed.flush()).decode().rstrip("=")
    root = "../" * page.count("/")
    source = f'src="{root}page/index.html#1.{fragment}"'
    frame = f'<iframe {source} title="The program in the page" loading="lazy" width="100%" height="560"></iframe>'
    return f"{match[0]}\n<details><summary>What it becomes and costs</summary>\n\n{frame}\n\n</details>\n"


if sys.argv[1:2] != ["supports"]:
    context, book = json.load(sys.stdin)
    repository = context["config"]["output"]["html"]["git-repository-url"]
    pages = {chapter["source_path"] for chapter in chapters(book["items"])}
    for chapter in chapters(book["items"]):
        page = chapter["source_path"]
        text = PREAMBLE.sub(lambda match: f"# {match[1]}\n", chapter["content"])
        text = TARGET.sub(lambda match, page=page: match[1] + moved(page, match[2], pages, repository), text)
        if os.path.exists("site/dist/index.html"):
            text = PROGRAM.sub(lambda match, page=page: with_page(page, match), text)
        chapter["content"] = text
    if os.path.exists(REPORT):
        with open(REPORT, encoding="utf-8") as file:
            report = {"name": "The published figures again", "content": file.read(), "path": "report/report.md", "source_path": None}
        book["items"].append({"Chapter": {**report, "number": None, "sub_items": [], "parent_names": []}})
    json.dump(book, sys.stdout)
