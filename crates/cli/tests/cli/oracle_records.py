"""What `pct decode` should write with --csv or --jsonl, by Python's own modules: records as JSON, one a line."""

import csv
import io
import json
import sys
from urllib.parse import unquote_to_bytes


def decode(value):
    return unquote_to_bytes(value.encode()).decode("utf-8", "surrogateescape")


def rows(text):
    return list(csv.reader(io.StringIO(text, newline="")))


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


def main():
    mode, *choice = sys.argv[1:]
    before, after = (open(name, newline="", encoding="utf-8").read() for name in choice[-2:])
    choice = choice[:-2]
    if mode == "csv":
        header, *body = rows(before)
        columns = {header.index(name) for name in choice}
        wanted = [header] + [[decode(c) if i in columns else c for i, c in enumerate(row)] for row in body]
        got = rows(after)
    else:
        wanted = [json.loads(line) for line in before.split("\n") if line]
        for path in choice:
            steps = path.replace("[]", ".[]").strip(".").split(".")
            wanted = [at(document, steps, decode) for document in wanted]
        got = [json.loads(line) for line in after.split("\n") if line]
    for number, (one, other) in enumerate(zip(wanted, got, strict=True), 1):
        if one != other:
            sys.exit(f"record {number}:\n wanted {one!r}\n got    {other!r}")
    print(len(wanted))


main()
