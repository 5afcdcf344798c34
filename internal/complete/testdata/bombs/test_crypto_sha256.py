"""the SHA-256 of two bytes has one value"""
import hashlib
import symchef


def test_crypto_sha256(b: symchef.Bytes(2)):
    assert hashlib.sha256(b).hexdigest() != hashlib.sha256(b"k7").hexdigest()
