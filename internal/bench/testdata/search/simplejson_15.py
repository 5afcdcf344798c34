import simplejson

import symchef

simplejson._toggle_speedups(False)  # the pure Python decoder


def test_simplejson(s: symchef.Str(15)):
    symchef.expect(simplejson.JSONDecodeError)
    simplejson.loads(s)
