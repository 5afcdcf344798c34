"""python3-toml 0.10.2: two characters end in an IndexError where the library promises TomlDecodeError."""

import symchef
import toml


def test_loads(text: symchef.Str(2)):
    symchef.expect(toml.TomlDecodeError)
    toml.loads(text)
