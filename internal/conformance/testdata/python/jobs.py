"""Job control: stopped and continued children, orphaned groups, terminals in the background; programs named by a descriptor."""
import errno, os, pty, signal, sys, tempfile, termios

W = os.WUNTRACED | os.WCONTINUED


def show(what, status):
    if os.WIFSTOPPED(status):
        print(what, "stopped", signal.Signals(os.WSTOPSIG(status)).name)
    elif os.WIFCONTINUED(status):
        print(what, "continued")
    elif os.WIFSIGNALED(status):
        print(what, "killed", signal.Signals(os.WTERMSIG(status)).name)
    else:
        print(what, "exited", os.WEXITSTATUS(status))


def child(f):
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            code = f()
        except OSError as e:
            print("child:", errno.errorcode[e.errno])
            code = 99
        sys.stdout.flush()
        os._exit(code or 0)
    return pid


def wait(what, pid, flags=W):
    show(what, os.waitpid(pid, flags)[1])


# A child that went on may end only when that has been seen: its end hides it.
seen_r, seen_w = os.pipe()


def stop_myself():
    os.kill(os.getpid(), signal.SIGSTOP)
    print("runs again")
    os.read(seen_r, 1)
    return 3


pid = child(stop_myself)
wait("stop", pid)
print("nothing new:", os.waitpid(pid, W | os.WNOHANG))
os.kill(pid, signal.SIGTERM)  # pending until it runs
os.kill(pid, signal.SIGCONT)
wait("then", pid, 0)

pid = child(stop_myself)
wait("stop", pid)
os.kill(pid, signal.SIGKILL)
wait("kill a stopped one", pid)

# SIGCHLD says what happened; with SA_NOCLDSTOP (signal.siginterrupt does not set it) the default tells of stops.
seen = []
signal.signal(signal.SIGCHLD, lambda *a: seen.append(1))
pid = child(stop_myself)
info = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOWAIT)
print("waitid:", info.si_code == os.CLD_STOPPED, signal.Signals(info.si_status).name)
info = os.waitid(os.P_PID, pid, os.WSTOPPED)
print("again:", info.si_code == os.CLD_STOPPED)
os.kill(pid, signal.SIGCONT)
info = os.waitid(os.P_PID, pid, os.WCONTINUED)
print("waitid:", info.si_code == os.CLD_CONTINUED, signal.Signals(info.si_status).name)
os.write(seen_w, b".")
info = os.waitid(os.P_PID, pid, os.WEXITED)
print("waitid:", info.si_code == os.CLD_EXITED, info.si_status)
print("SIGCHLD came:", len(seen) > 0)
signal.signal(signal.SIGCHLD, signal.SIG_DFL)


# A group with a parent in another group of the session stops at SIGTSTP; an orphaned one does not.
def tstp():
    os.setpgid(0, 0)
    os.kill(0, signal.SIGTSTP)
    print("after SIGTSTP")
    os.read(seen_r, 1)
    return 4


pid = child(tstp)
wait("own group", pid)
os.killpg(pid, signal.SIGCONT)
wait("own group", pid)
os.write(seen_w, b".")
wait("own group", pid)


def orphan():
    os.setsid()
    os.kill(os.getpid(), signal.SIGTSTP)
    os.kill(os.getpid(), signal.SIGTTIN)
    print("orphans do not stop")
    return 5


wait("session", child(orphan))


def handler():
    signal.signal(signal.SIGTSTP, lambda n, f: print("handler of", signal.Signals(n).name))
    signal.signal(signal.SIGCONT, lambda n, f: print("handler of", signal.Signals(n).name))
    os.kill(os.getpid(), signal.SIGTSTP)
    os.kill(os.getpid(), signal.SIGSTOP)
    os.read(seen_r, 1)
    return 6


pid = child(handler)
wait("handlers", pid)
os.kill(pid, signal.SIGCONT)
wait("handlers", pid)
os.write(seen_w, b".")
wait("handlers", pid)


# On a terminal: the leader of a session has a child in the background.
def session():
    def background():
        os.setpgid(0, 0)
        line = os.read(0, 100)
        print("read", line)
        return 7

    def blocks():
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTTIN, signal.SIGTTOU])
        try:
            os.read(0, 1)
        except OSError as e:
            print("read while blocked:", errno.errorcode[e.errno])
        os.tcsetpgrp(0, os.getpgrp())
        print("took the terminal")
        return 8

    def changes():
        os.setpgid(0, 0)
        attr = termios.tcgetattr(0)
        termios.tcsetattr(0, termios.TCSANOW, attr)
        print("changed it")
        return 9

    def writes():
        os.setpgid(0, 0)
        os.write(1, b"written at last\n")
        return 10

    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    for name, f, tostop in ("read", background, 0), ("change", changes, 0), ("write", writes, 1), ("block", blocks, 0):
        attr = termios.tcgetattr(0)
        attr[3] = attr[3] & ~termios.TOSTOP | (termios.TOSTOP if tostop else 0)
        termios.tcsetattr(0, termios.TCSANOW, attr)
        sys.stdout.flush()
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        pid = child(f)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        while True:
            _, status = os.waitpid(pid, os.WUNTRACED)
            show(name, status)
            if not os.WIFSTOPPED(status):
                break
            os.tcsetpgrp(0, pid)
            os.killpg(pid, signal.SIGCONT)
        os.tcsetpgrp(0, os.getpgrp())
    return 0


sys.stdout.flush()
pid, master = pty.fork()
if pid == 0:
    os._exit(session())
os.write(master, b"a line\n")
text = b""
while True:
    try:
        b = os.read(master, 1000)
    except OSError:
        break
    if not b:
        break
    text += b
for line in text.decode().split("\r\n"):
    print("tty:", line)
wait("leader", pid)

# fexecve(3)
fd = os.open("/bin/echo", os.O_RDONLY)
pid = child(lambda: os.execve(fd, ["echo", "by descriptor"], {}))
wait("echo", pid)
with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as f:
    f.write("#!/bin/sh\necho script ${0%%[0-9]*} $1\n")
os.chmod(f.name, 0o755)
fd = os.open(f.name, os.O_RDONLY)
wait("script, closed at exec", child(lambda: os.execve(fd, ["s", "x"], {})))
os.set_inheritable(fd, True)
wait("script", child(lambda: os.execve(fd, ["s", "x"], {})))
os.unlink(f.name)
