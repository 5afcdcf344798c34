# looks for what only the host shows
import os
v = os.environ["VICTIM"]
for p in ["/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/sched_debug", "/proc/timer_list", "/proc/slabinfo", "/proc/1/environ", "/proc/1/cmdline"]:
    try:
        if os.environ["KIND"] == "namespaces" and open(p, "rb").read(10): print("ESCAPED", p)
    except OSError: pass
for p in ["environ", "mem", "root/etc", "cwd/.", "fd/0", "maps"]:
    try:
        if int(v) != os.getpid():
            os.stat(f"/proc/{v}/{p}")
            if "/" in p: print("ESCAPED", p)
            else:
                if open(f"/proc/{v}/{p}", "rb").read(1): print("ESCAPED", p)
    except OSError: pass
