"""Strings: length, characters, search, comparison, keys of a table, joined and split."""

import symchef


def test_strings(s: symchef.Str(3, 0)):
    for c in s:
        symchef.assume(c == "a" or c == "b" or c == "-")
    if s == "":
        return "none"
    if s in {"a": 1, "ab": 2, "b-a": 3}:
        return "key"
    if "-" in s:
        return [len(part) > 0 for part in s.split("-")]
    return s < "b", s.startswith("aa"), len(s)
