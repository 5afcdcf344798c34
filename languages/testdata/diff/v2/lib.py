"""What symchef diff compares: v1 and v2 have a module of one name."""


class Point:
    def __init__(self, x: bool, y: bool):
        self.x, self.y = x, y


def identical(a: bool, s: str):
    return [a] + [s]


def empty(s: str) -> str:
    return s[0].upper() + s[1:]


def raises(kind: bool):
    if kind:
        raise LookupError("kind")
    return Point(True, kind)


def prints(a: bool, b: bool):
    print(a and not not b or (not a and b))


def changes(items: list[bool]):
    items.append(None)
    return len(items) - 1
