-- Reading standard input line by line, by numbers, by blocks.
print(io.read("*l")) print(io.read("*n", "*n", "*n")) print(io.read(5), io.read("*l"))
local n, words = 0, {} for l in io.lines() do n = n + 1 for w in l:gmatch("%S+") do words[w] = (words[w] or 0) + 1 end if n == 3 then break end end
local k = {} for w, c in pairs(words) do k[#k + 1] = w .. "=" .. c end table.sort(k) print(n, table.concat(k, " "))
print(#io.read("*a"), io.read("*a"), io.read("*l"), io.read(1))
