"""Reading what the host has."""
import hashlib, os, sysconfig
for p in ("/etc/debian_version", "/usr/bin/python3.11", os.__file__, "/bin/sh"):
    data = open(p, "rb").read(); print(p, len(data), hashlib.sha256(data).hexdigest(), os.stat(p).st_mode, os.stat(p).st_size, int(os.stat(p).st_mtime))
n = 0
for root, dirs, files in os.walk(os.path.dirname(os.__file__) + "/json"): n += len(files)
print(n, len(os.listdir("/etc")), os.path.realpath("/bin"), os.readlink("/proc/self/cwd") == os.getcwd(), open("/proc/self/cmdline").read().split("\0"), os.path.basename(os.readlink("/proc/self/exe")))
print(len(open("/dev/zero", "rb").read(10)), open("/dev/null").read() == "", len(open("/dev/urandom", "rb").read(33)), sysconfig.get_platform(), [os.path.exists(f"/proc/self/fd/{i}") for i in range(3)])
with open("/etc/passwd") as f: print(next(f), sum(1 for _ in f))
try: open("/etc/hostname-that-is-not")
except OSError as e: print(e.errno, e.strerror, e.filename)
import pwd, locale; print(pwd.getpwuid(0).pw_name, locale.getlocale(), locale.localeconv()["decimal_point"])
