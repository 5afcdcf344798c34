"""Environment, process attributes and standard input."""
# env: GREETING=hello EMPTY= UNICODE=é漢
import os, platform, resource, sys
print(sorted((k, v) for k, v in os.environ.items() if k != "LINES"), os.getenv("NOPE", "default"), os.environb[b"UNICODE"])
os.environ["NEW"] = "x=y"; print(os.popen("echo $NEW $GREETING").read())
del os.environ["GREETING"]; print(os.popen("echo [$GREETING]").read())
print([line.rstrip() for line in [sys.stdin.readline(), sys.stdin.readline()]], repr(sys.stdin.read(7)), input("prompt> "), len(sys.stdin.read()))
try: input()
except EOFError as e: print(e)
print(sys.argv, sys.executable, sys.flags.optimize, sys.maxsize, sys.byteorder, sys.getfilesystemencoding(), sys.stdout.encoding, sys.stdin.isatty(), sys.stdout.fileno(), sys.version_info[:3])
print(os.getuid(), os.getgid(), os.name, platform.machine(), platform.system(), os.sep, os.umask(0o27), oct(os.umask(0o22)), os.getcwd() == os.path.dirname(os.path.abspath(__file__)))
print(resource.getrlimit(resource.RLIMIT_CORE)[0] >= -1, os.cpu_count() > 0, os.get_terminal_size.__name__, os.path.expanduser("~"), os.path.expandvars("$UNICODE/x"))
print("to stderr", file=sys.stderr); sys.stdout.flush(); sys.stderr.write("unterminated")
sys.exit("a message as status")
