"""Draws all values of a shape, one after the other."""


class Decisions:
    """A session in which each choice takes the next way; leaves have their first values."""

    def __init__(self):
        self.way, self.at, self.told = [], 0, None

    def again(self):
        """Goes on with the next way; False if there is none."""
        del self.way[self.at:]
        while self.way and self.way[-1][0] + 1 == self.way[-1][1]:
            self.way.pop()
        if not self.way:
            return False
        self.way[-1][0] += 1
        return True

    def choice(self, name, first, n):
        assert first == 0 and n > 1, (name, first, n)
        self.values.append(None)
        if self.at == len(self.way):
            self.way.append([0, n])
        self.at += 1
        return self.way[self.at - 1][0]

    def sequence(self, kind, name, default, lo, hi, ascii):
        n = self.choice(name, 0, hi - lo + 1) if lo < hi else self.values.append(None) or 0
        number = len(self.values)  # all differ
        value = (chr(96 + number) if kind == "str" else bytes([96 + number])) * (lo + n)
        self.values[-1] = value
        return value

    def leaf(self, value):
        self.values.append(value)
        return value

    def integer(self, name, default, lo, hi):
        return self.leaf(min(max(len(self.values), lo), hi))

    def real(self, name, default, lo, hi):
        return self.leaf(default + 0.5 if default + 0.5 <= hi else default)

    def boolean(self, name, default):
        value = bool(self.choice(name, 0, 2))
        self.values[-1] = value
        return value

    def shape(self, name, n, code):
        assert n == len(self.values), (n, self.values)
        self.told = code

    def prune(self):
        raise Pruned


class Pruned(BaseException):
    pass


def told(code, values):
    parts = []
    for piece in code:
        if piece[0] == "@":
            parts.append(repr(values[int(piece[1:])]))
        else:
            parts.append(piece[1:].replace(":", ".") if piece[0] == "$" else piece[1:])
    return "".join(parts)
