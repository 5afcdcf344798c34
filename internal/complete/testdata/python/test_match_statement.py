"""The match statement over strings and shapes."""
import symchef


def test_match_statement(s: symchef.Str(2)):
    match [*s]:
        case ["-", "h"]:
            print("help")
        case ["-", flag] if flag.isalpha():
            print("flag")
        case [a, b] if a == b:
            print("twice")
        case _:
            print("other")
