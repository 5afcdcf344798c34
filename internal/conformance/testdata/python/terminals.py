# Pseudoterminals: line editing, echo, raw mode, signals, sessions, hang-up, polls, and the pty module.
import errno
import fcntl
import os
import pty
import select
import signal
import stat
import struct
import sys
import termios
import time
import tty


def show(title, *values):
    print(title, *values, flush=True)


def got(fd, n=1000):
    """What can be read soon: what is typed reaches the terminal a little later."""
    select.select([fd], [], [], 0.03)
    os.set_blocking(fd, False)
    try:
        return os.read(fd, n)
    except OSError as e:
        return errno.errorcode[e.errno]
    finally:
        os.set_blocking(fd, True)


def poll(fd):
    select.select([fd], [], [], 0.03)
    p = select.poll()
    p.register(fd, select.POLLIN | select.POLLOUT)
    return p.poll(0)[0][1] if p.poll(0) else 0


master, slave = os.openpty()
show("isatty", os.isatty(master), os.isatty(slave), os.ttyname(slave).startswith("/dev/pts/"))
st = os.fstat(slave)
show("stat", stat.S_ISCHR(st.st_mode), os.major(st.st_rdev), os.stat(os.ttyname(slave)).st_rdev == st.st_rdev)
show("names", os.path.basename(os.ttyname(slave)) in os.listdir("/dev/pts"))
attrs = termios.tcgetattr(slave)
show("attributes", attrs[:6], attrs[6], termios.tcgetattr(master) == attrs)
show("nothing yet", got(master), got(slave), poll(master), poll(slave))

os.write(slave, b"out\n")
show("output", got(master))
os.write(master, b"half")
show("half a line", got(slave), got(master), poll(slave))
os.write(master, b" and half\r")
show("a line", poll(slave), got(slave, 6), got(slave), got(master))
os.write(master, b"erasXX\x7f\x7fed\x01\x7f.\nkilled\x15two words  \x17\n")
show("edited", got(slave), got(slave), got(slave), got(master))
os.write(master, b"one\ntwo\nno newline\x04")
while struct.unpack("i", n := fcntl.ioctl(slave, termios.FIONREAD, b"1234"))[0] < 18:
    time.sleep(0.001)
show("lines", struct.unpack("i", n), got(slave), got(slave), got(slave), got(master))
os.write(master, b"\x04")
show("end of file", got(slave), got(slave))
os.write(slave, b"\ttab\rreturn\x1b[m")
show("control output", got(master))
os.write(master, b"\x1b[A\t\x00\n")
show("control input", got(slave), got(master))
os.write(slave, b"x" * 3000)
show("much", len(got(master, 10000)), got(master))
os.write(master, b"kept\n")
poll(slave)
termios.tcflush(slave, termios.TCIFLUSH)
show("flushed", got(slave), got(master))

quiet = termios.tcgetattr(slave)
quiet[3] &= ~termios.ECHO
quiet[0] &= ~termios.ICRNL
termios.tcsetattr(slave, termios.TCSANOW, quiet)
os.write(master, b"secret\r\n")
show("without echo", got(slave), got(master))
tty.setraw(slave)
os.write(master, b"\x03raw\x7f\r")
show("raw", got(slave, 3), got(slave), got(master))
os.write(slave, b"raw\n")
show("raw output", got(master))
raw = termios.tcgetattr(slave)
raw[6][termios.VMIN], raw[6][termios.VTIME] = 5, 0
termios.tcsetattr(slave, termios.TCSANOW, raw)
os.write(master, b"1234")
show("less than VMIN", got(slave), poll(slave) & select.POLLIN)
os.write(master, b"567")
show("VMIN", poll(slave) & select.POLLIN, got(slave))
raw[6][termios.VMIN], raw[6][termios.VTIME] = 0, 1
termios.tcsetattr(slave, termios.TCSANOW, raw)
show("VTIME", os.read(slave, 10))
termios.tcsetattr(slave, termios.TCSADRAIN, attrs)

fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 81, 3, 4))
show("window", os.get_terminal_size(master), struct.unpack("HHHH", fcntl.ioctl(slave, termios.TIOCGWINSZ, b"\0" * 8)))
for f in os.tcgetpgrp, termios.tcdrain:
    try:
        show(f.__name__, f(slave))
    except OSError as e:
        show(f.__name__, errno.errorcode[e.errno])
try:
    os.lseek(slave, 0, 0)
except OSError as e:
    show("seek", errno.errorcode[e.errno])
show("polls", poll(master), poll(slave))
os.write(slave, b"last words")
os.close(slave)
show("closed terminal", poll(master), got(master), got(master))
again = os.open(os.ptsname(master) if hasattr(os, "ptsname") else "/dev/pts/%d" % struct.unpack("i", fcntl.ioctl(master, 0x80045430, b"\0" * 4)), os.O_RDWR | os.O_NOCTTY)
show("opened again", got(master))
os.close(master)
show("closed master", poll(again), got(again))
for f in lambda: os.write(again, b"x"), lambda: termios.tcgetattr(again):
    try:
        f()
    except (OSError, termios.error) as e:
        show("error", errno.errorcode[e.args[0]])
os.close(again)


def forever():
    while True:
        time.sleep(0.01)  # a signal between two looks at flags would be lost on signal.pause


def session(work, script=()):
    """Runs work in a session of its own on a terminal and types the script: (wait for, type). What it said and how it ended."""
    pid, fd = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # it may be ignored
        try:
            work()
        except BaseException as e:
            print(type(e).__name__)
        sys.stdout.flush()
        os._exit(5)
    said = b""
    for wait, keys in script:
        while wait not in said:
            said += os.read(fd, 100)
        os.write(fd, keys)
    try:
        while data := os.read(fd, 100):
            said += data
    except OSError as e:
        said += b"|" + errno.errorcode[e.errno].encode()
    os.close(fd)
    return said, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def dialogue():
    name = input("name? ")
    print("hello,", name, os.isatty(0), os.getpid() == os.getsid(0) == os.tcgetpgrp(0))
    with open("/dev/tty", "w") as t:
        print("to the terminal", file=t)


show("dialogue", session(dialogue, [(b"name? ", b"Worl\x7fld\n")]))


def interrupted():
    print("ready", flush=True)
    forever()


said, status = session(interrupted, [(b"ready\r\n", b"\x03")])
show("interrupt", said.replace(b"^C", b""), status)  # the echo may come late


def killed():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    print("ready", flush=True)
    forever()


show("killed", session(killed, [(b"ready\r\n", b"junk\x03")])[1])


def resized():
    signal.signal(signal.SIGWINCH, lambda *a: None)
    print("ready", flush=True)
    input()
    print(os.get_terminal_size())


show("at the end of input", session(resized, [(b"ready\r\n", b"\x04")]))


def hung_up():
    pid, fd = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, lambda *a: os._exit(9))
        os.write(1, b"ready")
        forever()
    os.read(fd, 100)
    os.close(fd)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


hung_up()
show("spawn", pty.spawn([sys.executable, "-c", "import sys; print('spawned', sys.stdout.isatty())"]))
try:
    open("/dev/tty")
except OSError as e:
    show("no terminal", errno.errorcode[e.errno])
