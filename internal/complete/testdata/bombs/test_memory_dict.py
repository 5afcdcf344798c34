"""the value is a key of a dict of dicts"""
import symchef


def test_memory_dict(s: symchef.Str(2)):
    d = {"ab": {"x": 1}, "cd": {"y": 2}, "ef": {"x": 3}}
    assert d.get(s, {}).get("x") != 3
