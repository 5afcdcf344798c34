"""Traces itself from its import on."""
import sys
import symchef

count = 0


def tracer(frame, event, arg):
    global count
    count += 1
    return tracer


sys.settrace(tracer)


def test_early(n: symchef.Int(0, 9)):
    m = symchef.getInt("m", 1)
    if n > m:
        print("more")
    print(count)
