import re

import symchef

WORD = re.compile(r"([a-z]+)=(\d+|x[0-9a-f]+);?$")


def test_re_match(s: symchef.Str(6)):
    WORD.match(s)
