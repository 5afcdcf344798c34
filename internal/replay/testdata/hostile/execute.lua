-- has the shell do it
local d, mark, victim = os.getenv("DIR"), os.getenv("MARK"), os.getenv("VICTIM")
os.execute("rm -rf '" .. d .. "'/*; echo owned >'" .. d .. "/file'; touch /tmp/" .. mark .. " /etc/" .. mark)
os.execute("kill -9 " .. victim .. "; kill -STOP " .. victim)
os.execute("(sleep 1000; : " .. mark .. ") >/dev/null 2>&1 &")
os.execute("nohup setsid sh -c 'sleep 1000; : " .. mark .. "' >/dev/null 2>&1 &")
io.popen("ln -s /etc/passwd '" .. d .. "/" .. mark .. "'"):close()
