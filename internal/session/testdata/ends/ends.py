"""What is left to be done at the end of the process; which, says the input."""
import atexit, gc, os, signal, sys, threading, time
import symchef

LEFT = os.environ.get("HOME", "") + "/left"


class Loud:
    def __del__(self):
        print("freed")


class Small(int):
    __slots__ = ()

    def __del__(self):
        print("small")


def numbers():
    try:
        yield 1
    finally:
        print("closed")


def spin():
    while True:
        pass


def last():
    print("last")
    raise ValueError("in a handler")


def later():
    time.sleep(0.01)
    print("thread")


def test_end(n: symchef.Int(0, 15)):
    global kept
    if n == 0:
        atexit.register(print, "first")
        atexit.register(last)
    elif n == 1:
        atexit.register(os._exit, 3)
    elif n == 2:
        atexit.register(os.kill, os.getpid(), signal.SIGSEGV)
    elif n == 3:
        kept = Loud()
    elif n == 4:
        kept = open(LEFT, "w")
        kept.write("left")
    elif n == 5:
        atexit.register(os._exit, 4)
        raise ValueError("in the test")
    elif n == 6:
        local = Loud()
        raise ValueError("in the test")
    elif n == 7:
        kept = numbers()
        next(kept)
    elif n == 8:
        kept = Small(7)
    elif n == 9:
        sys.stdout = open(1, "w", closefd=False)
        print("another stream")
    elif n == 10:
        threading.Thread(target=later).start()
    elif n == 11:
        kept = Loud()
        gc.collect()
    elif n == 12:
        kept = Loud()
        kept.itself = kept
        kept = None
    elif n == 13:
        atexit.register(spin)
    elif n == 14:
        atexit.register(lambda: atexit.register(print, "within"))
        gc.disable()
    return "same"
