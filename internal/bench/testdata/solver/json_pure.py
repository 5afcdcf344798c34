import json.decoder
import json.scanner

import symchef

DECODER = json.decoder.JSONDecoder()
DECODER.parse_string = json.decoder.py_scanstring
DECODER.scan_once = json.scanner.py_make_scanner(DECODER)


def test_json(s: symchef.Str(6)):
    symchef.expect(json.decoder.JSONDecodeError)
    DECODER.decode(s)
