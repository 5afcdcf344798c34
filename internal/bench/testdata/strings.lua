local n = 0
for round = 1, 4 do
  local t = {}
  for i = 1, 20000 do t[#t + 1] = ("%d:%s"):format(i, ("ab"):rep(i % 7)) end
  local s = table.concat(t, ",")
  for w in s:gmatch("%d+") do n = n + #w end
  n = n + #s:gsub("ab", "x"):upper()
end
print(n)
