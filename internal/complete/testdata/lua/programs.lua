-- Small programs over symbolic strings and numbers. As a test, the first input chooses one; native.lua runs each on
-- every value of its inputs.

local symchef = require "symchef"

local load = loadstring or load

-- A character from first on, of n.
local function letter(name, first, n)
  return string.char(first:byte() + symchef.integer(name, 0, n - 1))
end

local function word(name, n)
  return letter(name .. 1, "a", n) .. letter(name .. 2, "a", n)
end

local function count(t)
  local n = 0
  for _ in pairs(t) do
    n = n + 1
  end
  return n
end

-- The entries of a table with string keys, in the order of keys.
local function show(t)
  local keys = {}
  for k in pairs(t) do
    keys[#keys + 1] = k
  end
  table.sort(keys)
  for i, k in ipairs(keys) do
    keys[i] = k .. "=" .. tostring(t[k])
  end
  print(table.concat(keys, " "))
end

local programs = {}

function programs.equal()
  local s, t = word("s", 3), word("t", 2)
  print(s == t, s == "ab", t ~= "bb", rawequal(s, t), s == s)
end

function programs.equal_one()
  local s = symchef.string("s", 1)
  print(s == "@", s == "a", s ~= "\n")
end

function programs.equal_lengths()
  local s = symchef.string("s", 1, 0)
  print(s == "", s == "x", #s)
end

function programs.lookup()
  local t = { ab = 1, bc = 2, cc = 3, long = 4, a = 5 }
  print(t[word("s", 3)])
end

function programs.insert()
  local t = {}
  local s, u = word("s", 2), word("u", 2)
  t[s] = 1
  t[u] = (t[u] or 0) + 2
  print(count(t), t[s], t[u], t.ab)
end

function programs.insert_then_name()
  local t = {}
  t[word("s", 3)] = 5
  print(t.ab, t.bb, rawget(t, "ca"), t.zz)
  t.ab = 6
  rawset(t, "cc", 7)
  show(t)
end

function programs.remove()
  local t = { ab = 1, ba = 2 }
  local s = word("s", 2)
  t[s] = nil
  collectgarbage()
  t["a" .. "a"] = 3
  t[s] = 4
  show(t)
end

function programs.next_key()
  local t = { ab = 1 }
  local k, v = next(t, word("s", 2) == "ab" and "a" .. "b" or nil)
  print(k, v)
  local ok = pcall(next, t, word("u", 2))
  print(ok)
end

function programs.rehash()
  local t = {}
  local s = "k" .. symchef.string("s", 1)
  for i = 1, 5 do
    t["k" .. i] = i
  end
  t[s] = (t[s] or 0) + 10
  for i = 4, 9 do
    t["k" .. i] = (t["k" .. i] or 0) + 1
  end
  print(count(t), t[s], t.k4)
end

function programs.metamethod()
  local name = "__l" .. letter("s", "d", 3)
  local mt = {}
  mt[name] = function() return true end
  local x = setmetatable({}, mt)
  print(pcall(function() return x <= x end))
end

function programs.index_method()
  local mt = { __index = function(_, k) return k .. "!" end }
  local t = setmetatable({ ab = 1 }, mt)
  print(t[word("s", 2)])
end

function programs.global_name()
  local f = _G[letter("s", "p", 3) .. "rint"]
  print(f == print, f == nil)
end

function programs.change_of_case()
  local s = symchef.string("s", 1)
  print(s:upper() == "Q", s:lower() == s, (s .. s):sub(2) == s, s:rep(2) == "zz")
end

function programs.concat()
  local s = word("s", 2)
  print(table.concat({ s, "x", s }, "-") == "ab-x-ab", ("<" .. s .. ">"):len())
end

function programs.gsub_table()
  local s = symchef.string("s", 1)
  print((s:gsub(".", { a = "1", b = "22" })) == s)
end

function programs.gmatch()
  local n = 0
  for w in (word("s", 2) .. " " .. letter("c", "a", 3)):gmatch("%a+") do
    n = n + (w == "b" and 10 or w == "ab" and 100 or 1)
  end
  print(n)
end

function programs.less()
  local s, t = word("s", 2), letter("t", "a", 3)
  print(s < t, s <= "ab", t > "b")
end

function programs.sort()
  local t = { letter("a", "a", 3), letter("b", "a", 3), "b" }
  table.sort(t)
  print(t[1] == "a", t[2] == "b", t[3] == "c")
end

function programs.source()
  local name = letter("s", "a", 3)
  local chunk = load("local a, b = 1, 'two' return " .. name .. ", #'" .. name .. "'")
  print(chunk())
end

function programs.reserved()
  local chunk = load("local " .. letter("s", "m", 3) .. "il = 1")
  print(chunk == nil)
end

function programs.long_key()
  local t = {}
  local head = string.rep("x", 45)
  t[head .. word("s", 2)] = 1
  t[head .. "ab"] = (t[head .. "ab"] or 0) + 2
  print(count(t), t[head .. "ab"], head .. word("u", 2) == head .. "bb")
end

function programs.collect()
  local t = {}
  for i = 1, 3 do
    t[i] = word("s" .. i, 2)
    collectgarbage()
  end
  local seen = {}
  for i = 1, 3 do
    local s = t[i]
    t[i] = nil
    seen[s] = (seen[s] or 0) + 1
    collectgarbage()
  end
  print(seen.ab, seen.bb, count(seen))
end

function programs.digits()
  local s = symchef.string("s", 1)
  print(tonumber(s), tonumber("1" .. s))
end

function programs.number_base()
  print(tonumber(letter("s", "0", 6) .. letter("t", "a", 4), 12))
end

function programs.find()
  local s = word("s", 2) .. letter("t", "a", 2)
  print(s:find("ba", 1, true), s:match("^a*(b+)"))
end

function programs.bytes()
  local b = symchef.bytes("raw", 1)
  print(b:byte() > 200, b == "\0", b:find("%c") ~= nil)
end

function programs.coroutine()
  local f = coroutine.wrap(function(a)
    while true do
      a = coroutine.yield(a == "ab")
    end
  end)
  print(f(word("s", 2)), f("ab"))
end

function programs.error_value()
  error("no " .. word("s", 2) .. (word("t", 2) == "ab" and "!" or "?"), 0)
end

function programs.error_kind()
  local s = word("s", 3)
  if s == "ab" then
    error("it is")
  elseif s == "bc" then
    error({})
  elseif s == "cc" then
    local x = nil + 1
  end
end

function programs.assumed()
  local s = word("s", 3)
  symchef.assume(s ~= "aa" and s < "cb")
  print(s == "ab", s == "cc")
end

function programs.compare()
  local x = symchef.integer("x", -9, 9)
  print(x < 3, x == 5, x >= -2, x ~= 0)
end

function programs.arithmetic()
  local x, y = symchef.integer("x", -5, 6), symchef.integer("y", 1, 3)
  print(x + y, x * y - 1, x % y, x % -y, -x)
end

function programs.division()
  local x, y = symchef.integer("x", -7, 7), symchef.integer("y", 0, 2)
  print(math.floor(x / 4), pcall(function() return y == 0 and 0 or x % y end))
end

function programs.array()
  local t = { 10, 20, 30, x = 1 }
  print(t[symchef.integer("i", -1, 5)])
end

function programs.array_store()
  local t = { 1, 2, 3 }
  t[symchef.integer("i", 0, 5)] = 9
  print(#t >= 3, t[1], t[2], t[3], count(t))
end

function programs.loop()
  local n = 0
  for i = symchef.integer("from", 0, 4), symchef.integer("to", 0, 4), 2 do
    n = n + i
  end
  print(n)
end

function programs.text()
  local x = symchef.integer("x", -12, 12)
  print(tostring(x), x .. "", string.format("%3d|%x", x, x % 16))
end

function programs.boolean()
  local a, b = symchef.boolean("p"), symchef.boolean("q", true)
  print(a, b, a and not b, a == b)
end

function programs.key()
  local t = { [1] = "one", [2.5] = "no", [-1] = "minus", [true] = "yes" }
  print(t[symchef.integer("x", -2, 2)], t[symchef.boolean("p")])
end

function programs.quicksort()
  local function sort(list)
    if #list < 2 then
      return list
    end
    local before, after, pivot = {}, {}, list[1]
    for i = 2, #list do
      local part = list[i] < pivot and before or after
      part[#part + 1] = list[i]
    end
    before, after = sort(before), sort(after)
    before[#before + 1] = pivot
    for _, v in ipairs(after) do
      before[#before + 1] = v
    end
    return before
  end
  print((unpack or table.unpack)(sort({ symchef.integer("a", 0, 3), symchef.integer("b", 0, 3), symchef.integer("c", 0, 3) })))
end

local names = {}
for name in pairs(programs) do
  if name:find(os.getenv("COMPLETE_ONLY") or "") then
    names[#names + 1] = name
  end
end
table.sort(names)

return {
  names = names,
  programs = programs,
  run = function(self)
    self.programs[symchef.choice("program", self.names)]()
  end,
}
