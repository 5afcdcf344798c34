import re

import symchef

TOKEN = re.compile(r"""
    (?P<number>\d+(?:\.\d*)?)
  | (?P<assign>:=)
  | (?P<end>;)
  | (?P<word>[A-Za-z]+)
  | (?P<operator>[+\-*/])
  | (?P<space>[ \t]+)
  | (?P<text>"(?:[^"\\]|\\.)*")
  | (?P<bad>.)
""", re.VERBOSE)

KEYWORDS = {"if", "then", "for", "next"}


def test_tokens(text: symchef.Str(10)):
    tokens = []
    for m in TOKEN.finditer(text):
        kind = m.lastgroup
        value = m.group()
        if kind == "number":
            value = float(value) if "." in value else int(value)
        elif kind == "word" and value in KEYWORDS:
            kind = value
        elif kind == "space":
            continue
        elif kind == "bad":
            raise ValueError("unexpected " + repr(value))
        tokens.append(kind)
    return tokens
