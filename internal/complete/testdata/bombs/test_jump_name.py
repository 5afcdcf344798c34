"""the name of a method is symbolic"""
import symchef


class Actions:
    def up(self):
        return 1

    def go(self):
        raise AssertionError("went")


def test_jump_name(s: symchef.Str(2)):
    getattr(Actions(), s, int)()
