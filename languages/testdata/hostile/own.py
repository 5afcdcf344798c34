"""Empties what the frames of its callers look names up in."""
import sys
import symchef


def globals_of(frames):
    for frame in frames:
        if frame.f_globals is not globals():
            frame.f_globals.clear()


def builtins_of(frames):
    mine = sys._getframe().f_builtins
    for frame in frames:
        if frame.f_builtins is not mine:
            frame.f_builtins.clear()


def callers():
    frame, found = sys._getframe(1), []
    while frame is not None:
        if frame.f_code.co_filename != __file__ and "symchef" in frame.f_code.co_filename:
            found.append(frame)
        frame = frame.f_back
    return found


def test_own(kind: symchef.Int(0, 5)):
    found = callers()
    if kind == 0:
        sys._getframe(1).f_globals.clear()
        return 12
    if kind == 1:
        globals_of(found)
        raise ValueError("after that")
    if kind == 2:
        builtins_of(found)
        return found is None
    if kind == 3:
        globals_of(found)
        builtins_of(found)
        sys.exit("after that")
    if kind == 4:
        for frame in found:
            frame.f_locals.clear()
            frame.f_trace = print
        return [kind]
    for name in list(sys.modules):
        if name.startswith("symchef"):
            sys.modules[name] = None
    return "last"
