"""Exceptions: chaining, groups, cleanup, and an uncaught one's traceback and status."""
import contextlib
import sys
import traceback

class Custom(ValueError):
    def __init__(self, code, **kw):
        super().__init__(f"code {code}")
        self.code = code

def thrower(n):
    try:
        if n == 0: return {}["k"]
        if n == 1: raise Custom(7) from KeyError("cause")
        if n == 2: return [][3]
        if n == 3: raise ExceptionGroup("many", [ValueError(1), TypeError("t"), ExceptionGroup("inner", [OSError(2, "nope")])])
        if n == 4: return thrower(4) + 1
        if n == 5: assert n == 6, "five is not six"
        if n == 6: return None.attribute
        if n == 7: return undefined_name
        if n == 8: return int("x" * 3)
        if n == 9: exec("def f(:\n  pass")
        if n == 10: open("/no/such/file")
        if n == 11: import no_such_module
    finally:
        if n < 4: print("finally", n)

sys.setrecursionlimit(120)
for i in range(12):
    try:
        thrower(i)
    except Exception as e:
        print(i, type(e).__name__, e, repr(e.__cause__), len(traceback.extract_tb(e.__traceback__)))
        if i in (1, 3, 9): traceback.print_exc()
try:
    thrower(3)
except* ValueError as g: print("values", g.exceptions)
except* TypeError as g: print("types", g.exceptions)
except* OSError as g: print("os", g.exceptions[0].exceptions)
with contextlib.ExitStack() as st:
    st.callback(print, "last"); st.callback(print, "first")
    with contextlib.suppress(ZeroDivisionError): 1 / 0
e = ValueError("noted"); e.add_note("a note"); print("".join(traceback.format_exception(e)))
def deep(n):
    if n: return deep(n - 1)
    try: {}["inner"]
    except KeyError: raise Custom(99)
deep(3)
