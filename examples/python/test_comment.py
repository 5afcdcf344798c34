"""A reader of lists with comments. A comment without an end is never left: the mistake that CHEF found in a JSON reader for Lua.

The texts with such a comment hang; each of the others is read (its end is printed) or refused, for one of two reasons.
29 paths in 190 million instructions; the 7 hangs are proved: the interpreter is in the same state again after some thousand rounds.
"""
import symchef


def skip(text, at):
    while True:
        if text[at:at + 1] == " ":
            at += 1
        elif text[at:at + 2] == "/*":
            end = text.find("*/", at + 2)
            if end >= 0:
                at = end + 2
        else:
            return at


def read(text):
    at = skip(text, 0)
    if text[at:at + 1] != "[":
        raise ValueError("no list")
    at = skip(text, at + 1)
    if text[at:at + 1] != "]":
        raise ValueError("not closed")
    return at


def test_read(text: symchef.Str(4)):
    print(read(text))
