-- takes memory in several processes
for i = 1, 8 do os.execute("lua5.4 -e 't = {} while true do t[#t + 1] = string.rep(tostring(#t), 1000000) end' >/dev/null 2>&1 &") end
os.execute("sleep 60")
