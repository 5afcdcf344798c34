"""Exceptions that answer every question with code of their own."""
import symchef


class Looped(BaseException):
    @property
    def args(self):
        raise KeyboardInterrupt

    @property
    def __class__(self):
        raise SystemExit(7)

    @property
    def __traceback__(self):
        while True:
            pass

    __cause__ = __context__ = property(lambda self: 1 / 0)

    def __str__(self):
        raise SystemExit(8)

    __repr__ = __format__ = __eq__ = __str__
    __hash__ = None

    def __getattribute__(self, name):
        raise KeyboardInterrupt


class Meta(type):
    def __getattribute__(cls, name):
        raise SystemExit(9)

    def __instancecheck__(cls, other):
        return True

    __subclasscheck__ = __instancecheck__

    def __eq__(cls, other):
        raise SystemExit(9)

    __hash__ = None


class Liar(Exception, metaclass=Meta):
    __module__ = property(lambda self: 1 / 0)
    __qualname__ = "L"


class Text(str):
    def __str__(self):
        raise SystemExit(10)

    __add__ = __len__ = encode = isascii = __str__


class Told(Exception):
    def __str__(self):
        return Text("told")


class Value:
    def __getattribute__(self, name):
        raise SystemExit(11)

    __repr__ = __str__ = __eq__ = __bool__ = __iter__ = __len__ = __index__ = __getattribute__
    __hash__ = None


def test_exceptions(kind: symchef.Int(0, 6), s: symchef.Str(1)):
    symchef.expect(ZeroDivisionError, Liar)
    if kind == 0:
        raise Looped
    if kind == 1:
        raise Liar(s)
    if kind == 2:
        raise Told
    if kind == 3:
        raise SystemExit(Told())
    if kind == 4:
        return Value()
    if kind == 5:
        return [Value(), Told, Liar, Text("x"), Meta]
    if s == "a":
        raise KeyError(s)
