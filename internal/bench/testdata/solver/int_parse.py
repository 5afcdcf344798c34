import symchef


def test_int(s: symchef.Str(6)):
    symchef.expect(ValueError)
    int(s)
