# removes and overwrites files with what the library offers
import os, shutil, tempfile
d, mark = os.environ["DIR"], os.environ["MARK"]
def attempt(f, *a, **k):
    try: return f(*a, **k)
    except Exception: pass
for p in ["file", "second", "sub/inner"]:
    attempt(lambda: open(d + "/" + p, "ab").write(b"owned"))
    attempt(os.truncate, d + "/" + p, 0)
    attempt(os.utime, d + "/" + p, (1, 1))
    attempt(os.chmod, d + "/" + p, 0o777)
    attempt(os.replace, d + "/" + p, d + "/other")
attempt(shutil.rmtree, d + "/sub")
attempt(shutil.move, d + "/second", d + "/moved")
for p in [d, "/", "/etc", "/tmp", "/var/tmp", "/root", "/usr/local/bin", os.path.expanduser("~"), tempfile.gettempdir()]:
    attempt(lambda: open(os.path.join(p, mark), "w").write("owned"))
    attempt(os.mkdir, os.path.join(p, mark + "-folder"))
