local seed, n = 42, 0
for round = 1, 2 do
  local t = {}
  for i = 1, 25000 do seed = seed * 16807 % 2147483647 t[i] = seed end
  table.sort(t)
  table.sort(t, function(a, b) return a % 1000 < b % 1000 end)
  n = n + t[1] + t[#t]
end
print(n)
