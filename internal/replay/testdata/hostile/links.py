# writes to the host's files by way of links
import os
d, mark = os.environ["DIR"], os.environ["MARK"]
def attempt(f, *a, **k):
    try: return f(*a, **k)
    except OSError: pass
for i, there in enumerate([d + "/file", d, "/proc/self/root" + d + "/file", "/proc/1/root" + d + "/file", "/proc/self/cwd/../../../../../.." + d + "/file"]):
    attempt(os.symlink, there, f"link{i}")
    attempt(lambda: open(f"link{i}", "a").write("owned"))
    attempt(lambda: open(f"link{i}/" + mark, "w").write("owned"))
attempt(os.link, d + "/file", "hard")
attempt(lambda: open("hard", "a").write("owned"))
fd = attempt(os.open, d, os.O_PATH)
if fd is not None:
    attempt(os.unlink, "second", dir_fd=fd)
    attempt(os.mkdir, mark, dir_fd=fd)
t = attempt(os.open, d, os.O_TMPFILE | os.O_WRONLY)
if t is not None: attempt(os.link, f"/proc/self/fd/{t}", d + "/" + mark + "tmp", follow_symlinks=True)
