-- Patterns: find, match, gmatch, gsub, captures, balance.
local d = "key = value; other=thing ; n = 42;"
for k, v in d:gmatch("(%w+)%s*=%s*(%w+)") do print(k, v) end
print(("2024-02-29"):match("(%d+)-(%d+)-(%d+)"), ("  trim me "):match("^%s*(.-)%s*$") .. "|", ("f(a(b)c)d"):match("%b()"), ("hello"):match(".-(l+)(.*)"))
print(("hello world"):gsub("o", "0"), ("hello"):gsub("", "-"), ("abc"):gsub("%w", "%0%0"), ("abc"):gsub("(a)(b)", "%2%1"), ("hello world"):gsub("%w+", {hello = "bye"}), ("1 2 3"):gsub("%d", function(x) if x ~= "2" then return x * 2 end end))
print(("x"):rep(20):gsub("x", "y", 3), ("THE (quick) fox"):find("%((%a+)%)"), ("a.b"):gsub("%.", "%%"), ("äö"):gsub("[\128-\255]+", "?"))
print(("key"):match("()e()"), ("[[x]]"):match("%[%[(.*)%]%]"), ("a-b_c"):gsub("[%-_]", " "), ("CamelCaseString"):gsub("%u", " %1"), ("0xFF zz"):match("%x+$"), ("%d"):gsub("%%d", "x"))
print(("aaa"):find("a-", 2), ("aaa"):match("^a-$"), ("aXb"):match("%u"), ("tab\tnew\n"):gsub("%c", "."), ("x^y"):find("^", 1, true), ("a]b"):match("[]]"), ("a-z"):match("[a%-z]+"))
for _, p in ipairs{"(", "%", "[a", "%b", "(()", "%1", "a)"} do print(p, pcall(string.find, "aaa", p)) end
print(("a"):rep(30):find(("a?"):rep(10) .. ("a"):rep(30)), ("word word"):match("(%a+) %1"), ("x = 1 -- c"):gsub("%-%-.*", ""))
print(pcall(string.gsub, "x", "x", "%2"), ("abc"):gsub("b", "%%"), ("a,b,,c"):gsub(",", ";", 2))
