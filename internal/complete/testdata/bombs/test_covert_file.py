"""the value goes through a file"""
import tempfile
import symchef


def test_covert_file(b: symchef.Bytes(2)):
    with tempfile.TemporaryFile() as f:
        f.write(b)
        f.seek(0)
        assert f.read() != b"k7"
