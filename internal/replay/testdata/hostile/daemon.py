# starts processes that go on
import os, subprocess, signal
for ignored in range(3):
    subprocess.Popen(["/bin/sh", "-c", "trap '' TERM HUP INT; sleep 1000; : " + os.environ["MARK"]], start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.execv("/bin/sleep", [os.environ["MARK"], "1000"])
    os._exit(0)
