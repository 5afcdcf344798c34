-- Child processes by the shell.
io.stdout:setvbuf("no")
local p = io.popen("echo from a child; cat /dev/null; exit 3") print(p:read("*a")) print(p:close())
print(os.execute("true"), os.execute("exit 4"), os.execute() ~= 0)
p = io.popen("sort -r | head -2", "w") p:write("b\na\nc\n") p:close()
p = io.popen("i=0; while [ $i -lt 300 ]; do echo line $i; i=$((i+1)); done") local n = 0 for l in p:lines() do n = n + #l end p:close() print(n)
os.execute("echo made > by-shell; ls; rm by-shell; echo err >&2") print(io.open("by-shell"))
print(os.execute("kill -9 $$"))
