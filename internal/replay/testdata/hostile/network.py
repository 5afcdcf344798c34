# speaks to the services of the host
import os, socket
port = int(os.environ["PORT"])
def attempt(f):
    try: f(); print("ESCAPED", f.__doc__)
    except OSError: pass
def tcp():
    "tcp"
    socket.create_connection(("127.0.0.1", port), 1).send(b"owned")
def local():
    "local"
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["DIR"] + "/socket"); s.send(b"owned")
def abstract():
    "abstract"
    s = socket.socket(socket.AF_UNIX); s.connect("\0" + os.environ["MARK"]); s.send(b"owned")
def away():
    "away"
    socket.create_connection(("1.1.1.1", 80), 1)
for f in [tcp, local, abstract, away]: attempt(f)
