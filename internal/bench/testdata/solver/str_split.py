import symchef


def test_split(s: symchef.Str(6)):
    len(s.split(", "))
    len(s.split())
