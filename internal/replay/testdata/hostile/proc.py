# looks for what can be opened for writing in /proc and /sys; it writes nothing
import os
mine = {"/proc/self", "/proc/thread-self", "/proc/%d" % os.getpid(), "/proc/net"}
found = []
for top in ["/proc", "/sys"]:
    for dir, dirs, files in os.walk(top):
        dirs[:] = [x for x in dirs if dir + "/" + x not in mine and not os.path.islink(dir + "/" + x) and x != "task"]
        for f in files:
            p = dir + "/" + f
            try: os.close(os.open(p, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY)); found.append(p)
            except OSError: pass
for p in found[:10]: print("ESCAPED", p)
