"""What symchef diff compares: v1 and v2 have a module of one name."""


class Point:
    def __init__(self, x: bool, y: bool):
        self.x, self.y = x, y


def identical(a: bool, s: str):
    return [a, s]


def empty(s: str) -> str:
    return s[:1].upper() + s[1:]


def raises(kind: bool):
    if kind:
        raise KeyError("kind")
    return Point(True, kind)


def prints(a: bool, b: bool):
    print(a and b)


def changes(items: list[bool]):
    return len(items)


def gone(a: bool):
    return a
