"""Standard streams that are not what they were."""
import io, os, sys
import symchef


class Stream:
    def __init__(self, to):
        self.to = to

    def write(self, text):
        self.to.write("<" + text + ">")

    def flush(self):
        self.to.write("flushed")
        raise SystemExit(3)


def test_streams(kind: symchef.Int(0, 4)):
    if kind == 0:
        sys.stdout = Stream(sys.stdout)
    elif kind == 1:
        sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-16")
    elif kind == 2:
        sys.stdout = open(1, "w", closefd=False)
        sys.stderr = None
    elif kind == 3:
        del sys.stdout, sys.stderr
        os.write(1, b"direct")
        return
    else:
        sys.stdout.flush = sys.stdout.write = None
        sys.stdout.buffer.flush = None
        return
    print("kind", kind)
    sys.stdout.write("no end of line")
