"""python3-packaging 23.0: a marker with an odd string ends in a ValueError or a SyntaxError of Python's own parser, where the
library promises InvalidMarker."""

import symchef
from packaging.markers import InvalidMarker, Marker


def test_marker(text: symchef.Str(1)):
    symchef.expect(InvalidMarker)
    Marker("os_name == '" + text + "'")
