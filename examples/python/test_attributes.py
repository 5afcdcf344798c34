"""Attributes with symbolic names of 3 characters.

Exactly 2 classes of (outcome, output): the second name is the first, or not. An object's attributes are a dictionary, its
names are interned strings: neither the hash of a name nor its address may depend on its characters, or there is a path for
each of thousands of names.
"""

import symchef


class Box:
    pass


def test_attributes(written: symchef.Str(3), read: symchef.Str(3)):
    box = Box()
    setattr(box, written, 1)
    if getattr(box, read, 0):
        print("the same")
    else:
        print("another")
