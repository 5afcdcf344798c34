"""json.loads of a document with one free character."""
import json
import symchef


def test_json_loads(s: symchef.Str(1)):
    try:
        print(json.loads("[1" + s + "2]"))
    except ValueError as e:
        print(type(e).__name__)
