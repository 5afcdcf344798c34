-- table.sort with and without comparison, invalid ones too; heaps by hand.
local seed = 42
local function rnd(n) seed = (seed * 16807) % 2147483647 return seed % n end
local t = {} for i = 1, 2000 do t[i] = rnd(10000) end
table.sort(t) local good = true for i = 2, #t do good = good and t[i-1] <= t[i] end print(good, t[1], t[1000], t[2000])
table.sort(t, function(a, b) return a > b end) print(t[1], t[2000])
local w = {"pear", "Fig", "apple", "kiwi", "Banana", ""} table.sort(w) print(table.concat(w, " "))
table.sort(w, function(a, b) return a:lower() < b:lower() end) print(table.concat(w, " "))
local r = {} for i = 1, 50 do r[i] = {k = rnd(5), i = i} end
table.sort(r, function(a, b) if a.k ~= b.k then return a.k < b.k end return a.i < b.i end)
for i = 1, 50, 7 do io.write(r[i].k, ":", r[i].i, " ") end print()
print(pcall(table.sort, {1, "a", 2}), pcall(table.sort, {3, 1, 2}, 5))
local h, n = {}, 0
local function push(v) n = n + 1 h[n] = v local i = n while i > 1 do local p = math.floor(i / 2) if h[p] <= h[i] then break end h[p], h[i] = h[i], h[p] i = p end end
local function pop() local v = h[1] h[1] = h[n] h[n] = nil n = n - 1 local i = 1 while true do local c = 2 * i if c > n then break end if c < n and h[c+1] < h[c] then c = c + 1 end if h[i] <= h[c] then break end h[i], h[c] = h[c], h[i] i = c end return v end
for i = 1, 200 do push(rnd(1000)) end for i = 1, 20 do io.write(pop(), " ") end print(n)
