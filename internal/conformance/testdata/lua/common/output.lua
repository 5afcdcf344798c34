-- Megabytes of output.
for i = 1, 40000 do print(i, i * i, "text " .. i) end io.write(("0123456789"):rep(100000), "\n") io.stderr:write(("err "):rep(50000), "\n")
for i = 1, 300 do io.stdout:write(string.char(i % 256):rep(500)) end io.stdout:flush() io.stdout:setvbuf("no") for i = 1, 500 do io.write(i, ";") end print() io.stderr:write("end\n")
