"""the text is a program"""
import symchef


def test_jump_eval(s: symchef.Str(1)):
    try:
        value = eval("6" + s + "7")
    except (SyntaxError, TypeError, NameError):
        value = 0
    assert value != 42
