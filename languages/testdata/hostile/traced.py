"""Traces itself, looks at its descriptors, and closes them."""
import os, sys
import symchef

seen = []


def tracer(frame, event, arg):
    if frame.f_code.co_filename == __file__:
        seen.append((event, frame.f_lineno))
    else:
        seen.append(event)
    return tracer


def profiler(frame, event, arg):
    if arg is sys.exit:
        raise RuntimeError("profiled")


def test_traced(s: symchef.Str(2), n: symchef.Int(0, 3)):
    fd = os.open("/dev/null", os.O_RDONLY)
    print(fd)
    sys.settrace(tracer)
    symchef.log(s)
    symchef.concretize(n)
    more = symchef.getString("more", "x", 2)
    print(len(seen), seen[:40])
    sys.setprofile(profiler)
    os.closerange(3, 2000)
    sys.setrecursionlimit(20)
    if s == "ab":
        sys.exit(n)
    return more
