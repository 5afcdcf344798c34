"""Directories: making, walking, globbing, copying, removing."""
import glob, os, pathlib, shutil, fnmatch, zipfile, tarfile, filecmp
os.makedirs("a/b/c"); os.mkdir("d", 0o700)
for p in ("a/1.txt", "a/b/2.txt", "a/b/c/3.dat", "d/4.txt"): pathlib.Path(p).write_text(p * 3)
for root, dirs, files in os.walk("."):
    dirs.sort(); print(root, dirs, sorted(files))
print(sorted(glob.glob("**/*.txt", recursive=True)), sorted(map(str, pathlib.Path(".").rglob("*.dat"))), fnmatch.filter(["a.c", "b.h"], "*.[ch]"))
shutil.copytree("a", "e"); shutil.move("d", "e/moved"); print(sorted(os.listdir("e")), filecmp.cmp("a/1.txt", "e/1.txt", shallow=False))
cwd = os.getcwd(); os.chdir("e/b"); print(os.path.relpath(cwd, "."), os.path.exists("../moved/4.txt"), os.path.realpath("../b/./c/..") == cwd + "/e/b"); os.chdir(cwd)
with os.scandir("e") as it: print(sorted((x.name, x.is_dir(), x.is_file(), x.is_symlink()) for x in it))
for bad in (lambda: os.rmdir("a"), lambda: os.mkdir("a"), lambda: os.listdir("zz"), lambda: os.rename("a", "a/b/x"), lambda: os.chdir("a/1.txt"), lambda: os.unlink("a")):
    try: bad()
    except OSError as e: print(type(e).__name__, e)
with zipfile.ZipFile("z.zip", "w", zipfile.ZIP_DEFLATED) as z: z.writestr("in.txt", "zipped " * 100)
with zipfile.ZipFile("z.zip") as z: print(z.namelist(), z.read("in.txt")[:14], z.testzip())
with tarfile.open("t.tar.gz", "w:gz") as t: t.add("a")
with tarfile.open("t.tar.gz") as t: print(sorted(t.getnames()))
shutil.rmtree("a"); print(sorted(os.listdir(".")), os.path.isdir("/usr"), "python3.11" in os.listdir("/usr/lib"), os.path.splitext("x.tar.gz"), pathlib.PurePath("/a/../b").parts)
os.makedirs("many")
for i in range(300): open(f"many/{i:04}", "w").close()
print(len(os.listdir("many")), sorted(os.listdir("many"))[-1])
