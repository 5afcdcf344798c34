"""base64 decoding with one free character."""
import base64
import symchef


def test_base64_decode(s: symchef.Str(1)):
    try:
        print(base64.b64decode("QUF" + s, validate=True)[:2])
    except ValueError as e:
        print(e)
