# SPDX-License-Identifier: GPL-2.0
"""What the checks share: the files of the checkout, Rust and C without their
comments and strings, and the form of a finding."""

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

# Comments, strings and characters of Rust and C. A quote that starts no
# character is a Rust lifetime.
_TOKEN = re.compile(
    r"""//[^\n]*
      | (?P<block>/\*)
      | \b[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)
      | (?:\b[bc])?"(?:\\.|[^"\\])*"
      | (?:\bb)?'(?:\\[^\n][^'\n]*|[^\\'\n])'""",
    re.VERBOSE | re.DOTALL,
)
_BLOCK = re.compile(r"/\*|\*/")
_TEST = re.compile(r"#\[cfg\(test\)\]")


def files():
    """The files that git knows or would take, as paths relative to TOP."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=TOP, stdout=subprocess.PIPE, check=True,
    ).stdout.decode()
    names = sorted(set(listed.split("\0")) - {""})
    return [Path(name) for name in names if (TOP / name).is_file()]


def read(path):
    """The text of a file; None if it is no text."""
    data = (TOP / path).read_bytes()
    if b"\0" in data:
        return None
    return data.decode(errors="replace")


def _blank(text):
    return re.sub(r"[^\n]", " ", text)


def _block_end(text, start, nested):
    depth = 0
    for mark in _BLOCK.finditer(text, start):
        if mark.group() == "*/":
            depth -= 1
        elif nested or depth == 0:
            depth += 1
        if depth == 0:
            return mark.end()
    return len(text)


def split(text, rust):
    """(code, comments): the text twice, with everything else blanked; line and
    column of what is left are unchanged."""
    code, comments, at = [], [], 0
    while True:
        token = _TOKEN.search(text, at)
        start = token.start() if token else len(text)
        code.append(text[at:start])
        comments.append(_blank(text[at:start]))
        if not token:
            return "".join(code), "".join(comments)
        at = token.end()
        if token.group("block"):
            at = _block_end(text, start, nested=rust)
        found = text[start:at]
        code.append(_blank(found))
        comments.append(found if found.startswith("/") else _blank(found))


def without_tests(code):
    """Rust code with the items under `#[cfg(test)]` blanked."""
    while True:
        mark = _TEST.search(code)
        if not mark:
            return code
        end, depth = mark.end(), 0
        for char in re.finditer(r"[;{}]", code[end:]):
            depth += {"{": 1, "}": -1, ";": 0}[char.group()]
            if depth == 0:
                end += char.end()
                break
        else:
            end = len(code)
        code = code[: mark.start()] + _blank(code[mark.start() : end]) + code[end:]


def line_of(text, position):
    """The number of the line that a position is in."""
    return text.count("\n", 0, position) + 1


class Findings:
    """What a check has found."""

    def __init__(self):
        self._lines = []

    def add(self, path, line, message):
        """Reports a finding at a line, from 1."""
        self._lines.append((str(path), line, message))

    def end(self):
        """Prints the findings and ends the program: 0 if there are none."""
        for path, line, message in sorted(self._lines):
            print(f"{path}:{line}: {message}")
        sys.exit(1 if self._lines else 0)
