"""json.dumps escapes."""
import json
import symchef


def test_json_dumps(s: symchef.Str(1)):
    print(json.dumps("k" + s))
