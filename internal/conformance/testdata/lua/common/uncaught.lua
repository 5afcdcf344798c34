-- An uncaught error: message, traceback and status.
local function inner(n) if n == 0 then local t = nil return t.x end inner(n - 1) return 1 end
print("before") io.stdout:write("no newline")
inner(3)
