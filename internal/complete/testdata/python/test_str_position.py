"""Where something is, or whether: compared, computed with, and used to cut."""
import symchef


def test_str_position(s: symchef.Str(2)):
    t = "x" + s + "yx"
    p, q, r = t.find("y"), t.rfind("x", 0, 4), t.find(s[0], 2)
    print("early" if p < 2 else "late", p + q > 2, q - p == 1, -1 < r)
    print(s[1] in "x-y", s in "axyb", t.startswith("xx"), t.endswith("yyx"), t.startswith(("xy", "xz"), 0))
    print(t[:p].upper() if q == 0 else "bcdef"[p + 1], len(t[p:]))
