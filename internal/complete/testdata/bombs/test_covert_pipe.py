"""the value goes through a pipe"""
import os
import symchef


def test_covert_pipe(b: symchef.Bytes(2)):
    r, w = os.pipe()
    os.write(w, b[::-1])
    assert os.read(r, 2) != b"k7"
