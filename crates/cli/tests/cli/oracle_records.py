"""What `pct decode` should write with --csv or --jsonl, by Python's own modules, and with --values or --into, too."""

import csv
import io
import json
import re
import sys
from urllib.parse import unquote_to_bytes


def decode(value):
    return unquote_to_bytes(value.encode()).decode("utf-8", "surrogateescape")


def rows(text):
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


# A row on one line, as RFC 4180 has it, but with any text.
ROW = re.compile(r'("([^"]|"")*"|[^",]*)(,("([^"]|"")*"|[^",]*))*')


def at(document, path, change):
    """The document with `change` made to the strings at `path`."""
    if not path:
        return change(document) if isinstance(document, str) else document
    step, *rest = path
    if step == "[]":
        return [at(item, rest, change) for item in document] if isinstance(document, list) else document
    if isinstance(document, dict) and step in document:
        return {key: at(item, rest, change) if key == step else item for key, item in document.items()}
    return document


def line(value):
    """What --values writes of a value."""
    text = value.replace("\n", "%0A").replace("\r", "%0D")
    # Escapes of line ends stay; a placeholder keeps them from being decoded.
    return decode(text.replace("%0A", "%250A").replace("%0D", "%250D"))


def insert(document, path, name):
    """The document with the decoded string at `path` as the next member, called `name`."""
    step, *rest = path
    if not isinstance(document, dict):
        return document
    result = {}
    for key, item in document.items():
        result[key] = insert(item, rest, name) if key == step and rest else item
        if key == step and not rest and isinstance(item, str):
            result[name] = decode(item)
    return result


def strings(document, path):
    if not path:
        return [document] if isinstance(document, str) else []
    return strings(document[path[0]], path[1:]) if isinstance(document, dict) and path[0] in document else []


def main():
    mode, *choice = sys.argv[1:]
    before, after = (open(name, newline="", encoding="utf-8").read() for name in choice[-2:])
    choice = choice[:-2]
    if mode == "csv":
        header, *body = rows(before)
        columns = {header.index(name) for name in choice}
        wanted = [header] + [[decode(c) if i in columns else c for i, c in enumerate(row)] for row in body]
        got = rows(after)
    elif mode == "rows-csv":
        # Each row is a line, and those that cannot be read stay.
        header, *lines = before.split("\n")[:-1]
        columns = {rows(header)[0].index(name) for name in choice}
        wanted, got = [header], after.split("\n")[:-1]
        for number, text in enumerate(lines, 1):
            if not ROW.fullmatch(text):
                wanted.append(text)
                continue
            cells = next(csv.reader([text], strict=True), [])
            wanted.append([decode(c) if i in columns else c for i, c in enumerate(cells)])
            got[number] = next(csv.reader([got[number]], strict=True), [])
    elif mode == "only-csv":
        header, *body = rows(before)
        columns = sorted(header.index(name) for name in choice)
        wanted = [line(row[i]) for row in body for i in columns if i < len(row)]
        got = after.split("\n")[:-1]
    elif mode == "into-csv":
        header, *body = rows(before)
        names = {header.index(old): new for old, new in (pair.split("=") for pair in choice)}

        def wider(row, make):
            return [cell for i, c in enumerate(row) for cell in ([c, make(i, c)] if i in names else [c])]

        wanted = [wider(header, lambda i, c: names[i])] + [wider(row, lambda i, c: decode(c)) for row in body]
        got = rows(after)
    elif mode == "only-json":
        documents = [json.loads(row) for row in before.split("\n") if row]
        wanted = [line(s) for document in documents for path in choice for s in strings(document, path.split("."))]
        got = after.split("\n")[:-1]
    elif mode == "into-json":
        wanted = [json.loads(row) for row in before.split("\n") if row]
        for path, name in (pair.split("=") for pair in choice):
            wanted = [insert(document, path.split("."), name) for document in wanted]
        wanted = [json.dumps(document) for document in wanted]
        got = [json.dumps(json.loads(row)) for row in after.split("\n") if row]
    else:
        wanted = [json.loads(row) for row in before.split("\n") if row]
        for path in choice:
            steps = path.replace("[]", ".[]").strip(".").split(".")
            wanted = [at(document, steps, decode) for document in wanted]
        got = [json.loads(row) for row in after.split("\n") if row]
    for number, (one, other) in enumerate(zip(wanted, got, strict=True), 1):
        if one != other:
            sys.exit(f"record {number}:\n wanted {one!r}\n got    {other!r}")
    print(len(wanted))


main()
