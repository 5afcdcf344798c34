--[[ Symbolic tests for stock Lua, 5.1 to 5.4.

    local symchef = require "symchef"

    return function()
      local email = symchef.string("email", 10)
      assert(email:find("@", 1, true))
    end

This file is the library, and the program that runs a test: lua symchef.lua /abs/test.lua[::NAME]. It serves
inside the machine, where inputs are symbolic, and in native replay (SYMCHEF_REPLAY in the environment), where
they are the values of one test case. Inside the machine, requests go to /dev/symchef
(docs/device-protocol.md); symbolic texts follow a request's line, symbolic values its reply. Nothing here looks at a symbolic
character, compares a symbolic string or makes it a key: each of these may split the path. ]]

local symchef = {}
package.loaded.symchef = symchef

-- What the library uses of Lua, where the test cannot replace it. From here on nothing is looked up in a global or in a table that the
-- test can reach, no string or file is called by a method (their metatables are the test's, too), and objects of the
-- test's are looked at raw. Texts are joined by "..", which is raw for strings and numbers: tostring, and with it %s of string.format,
-- ask their metatables.
local type, tostring, tonumber, next, select, ipairs = type, tostring, tonumber, next, select, ipairs
local error, pcall, xpcall, assert, setmetatable = error, pcall, xpcall, assert, setmetatable
local rawequal, rawget, rawset, globals, loadfile, package = rawequal, rawget, rawset, _G, loadfile, package
local unpack = unpack or table.unpack
local byte, char, find, format, gmatch, gsub = string.byte, string.char, string.find, string.format, string.gmatch, string.gsub
local match, rep, sub, dump, string_pack, string_unpack = string.match, string.rep, string.sub, string.dump, string.pack, string.unpack
local concat, sort = table.concat, table.sort
local huge, math_type, least_integer, most_integer = math.huge, math.type, math.mininteger or -2 ^ 52, math.maxinteger or 2 ^ 52
local open, stdout, stderr, io_type = io.open, io.stdout, io.stderr, io.type
local write, read, flush, close, setvbuf = stdout.write, stdout.read, stdout.flush, stdout.close, stdout.setvbuf
local getenv, exit, loaded = os.getenv, os.exit, package.loaded
local getinfo, getmetatable, gethook, sethook = debug.getinfo, debug.getmetatable, debug.gethook, debug.sethook
local registry, files = debug.getregistry(), debug.getmetatable(io.stdout)
local load = loadstring or load
local rawlen = rawlen or function(t) return #t end -- # is raw where there is no rawlen
local own = getinfo(1, "S").source

-- A mistake of the test: what it asked for cannot be. Each %s of the message is one of the texts.
local UsageError = setmetatable({}, { __tostring = function() return "symchef.UsageError" end })
UsageError.__index = UsageError
UsageError.__name = "symchef.UsageError"
UsageError.__tostring = function(e) return e.message end

local function usage_error(message, ...)
  local at, values = 0, { ... }
  message = gsub(message, "%%s", function()
    at = at + 1
    return values[at]
  end)
  for level = 2, 50 do -- the line of the test that asks for it
    local caller = getinfo(level, "Sl")
    if not caller then
      break
    elseif caller.source ~= own and caller.currentline > 0 then
      message = message .. " (line " .. caller.currentline .. ")"
      break
    end
  end
  error(setmetatable({ message = message }, UsageError), 0)
end

if jit then -- LuaJIT: what it compiles on its way would be code that no one has seen
  jit.off()
end

local session -- the present one: of the machine or of a replay

-- At its end Lua calls the finalizers of all objects, the youngest first. What is older than this one is the standard files and modules, and the
-- end of the process is as good to them; memory, of which there is most, need not be freed.
local last
local function leave()
  if session and session.told then
    exit(0)
  end
end
if newproxy then
  last = newproxy(true)
  getmetatable(last).__gc = leave
else
  last = setmetatable({}, { __gc = leave })
end

-- Puts back what Lua's own functions know files by: a test may have removed it.
local function know_files()
  rawset(registry, "FILE*", files)
end

-- Integers have 64 bits where the language has them; else they are those whose distances a double holds exactly: least_integer to
-- most_integer.

-- Decimal digits of a whole number; %d of Lua 5.1 is that of C.
local function digits(n)
  return format("%d", n)
end

-- The session inside the machine ------------------------------------------------------------------------------

local machine = { last = last }

-- A field of a request: percent-encoded, % for the empty text.
local function quote(text)
  if text == "" then
    return "%"
  end
  return (gsub(text, "[^!-$&-~]", function(c) return format("%%%02X", byte(c)) end))
end

-- A request is one write, and the C library may make two of a longer one.
local most_text = 3000

-- Opens the device, and makes none where there is none: up to there the interpreter may run natively.
function machine:open()
  local there = open("/dev/symchef", "r") -- "a+" would make it, and with "r+" the C library seeks between reading and writing
  self.device = there and close(there) and open("/dev/symchef", "a+")
  if not self.device then
    write(stderr, "symchef: not inside symchef and SYMCHEF_REPLAY is not set: nothing to run\n")
    exit(2)
  end
  setvbuf(self.device, "full", 2 ^ 22)
  self:request("hello 1")
end

-- One round trip: the line, and what follows it, are one write; the fields of the reply as numbers.
function machine:request(line, body)
  know_files()
  if not self.device or io_type(self.device) ~= "file" then -- it is closed with all others in the end
    self:open()
  end
  write(self.device, line, "\n", body or "")
  flush(self.device)
  local reply = read(self.device)
  if reply == "ok" then
    return
  end
  local fields = match(reply, "^ok (.*)$")
  if not fields then
    usage_error("%s", match(reply, "^err (.*)$") or "bad reply: " .. reply)
  end
  local numbers = {}
  for field in gmatch(fields, "%S+") do
    numbers[#numbers + 1] = tonumber(field)
  end
  return unpack(numbers)
end

-- A request that an engine need not understand.
function machine:offer(line, body)
  pcall(self.request, self, line, body)
end

-- A request about a text: its length, and the text behind the line.
function machine:text(line, text)
  return self:request(line .. " - " .. digits(#text), text)
end

function machine:begin()
  if not self.begun then
    self.begun = true
    local more = self:request(self.test and "begin " .. quote(self.test) or "begin")
    self.kept = {} -- objects of other sizes, which no other execution has
    for i = 1, more or 0 do
      self.kept[i] = { concat({ "kept", i }), {} }
    end
    for _, text in ipairs(self.waiting) do
      self:log(text)
    end
  end
end

function machine:sequence(kind, name, default, least, most)
  self:begin()
  local line = "input " .. quote(name) .. " " .. kind .. " " .. quote(default) .. " " .. digits(least) .. " " .. digits(most)
  if kind == "str" then
    line = line .. " 1"
  end
  local id, n = self:request(line)
  if n == 0 then
    return ""
  end
  self:request(format("value %d %d 0", id, n))
  return read(self.device, n)
end

-- The number of an input. Its bytes come in a string too long to be interned; where nothing reads them as a signed integer,
-- they hold its distance from the least one.
local long = 48

function machine:number(id, least, most)
  if string_unpack then
    self:request(format("value %d %d 0", id, long))
    return (string_unpack("<i8", read(self.device, long)))
  end
  local size = 1
  while 256 ^ size <= most - least do
    size = size + 1
  end
  self:request(format("value %d 8 ", id) .. digits(least))
  local bytes = { byte(read(self.device, 8), 1, size) }
  local n = bytes[size]
  for i = size - 1, 1, -1 do
    n = n * 256 + bytes[i]
  end
  return n + least
end

function machine:integer(name, default, least, most)
  self:begin()
  local id = self:request("input " .. quote(name) .. " int " .. digits(default) .. " " .. digits(least) .. " " .. digits(most))
  return self:number(id, least, most)
end

-- Eight bytes as a double. Where nothing reads them, the interpreter does, as a constant in compiled code.
local to_double
if string_unpack then
  function to_double(s) return (string_unpack("<d", s)) end
elseif jit then
  local ffi = require "ffi"
  local new, copy, doubles = ffi.new, ffi.copy, ffi.typeof("double[1]")
  function to_double(s)
    local d = new(doubles)
    copy(d, s, 8)
    return d[0]
  end
else
  local pi = "\24\45\68\84\251\33\9\64"
  local code = dump(load("return 3.141592653589793"))
  local at = find(code, pi, 1, true)
  local head, tail = sub(code, 1, at - 1), sub(code, at + 8)
  function to_double(s) return load(head .. s .. tail)() end
end

function machine:float(name, default, least, most)
  self:begin()
  local id = self:request("input " .. quote(name) .. format(" float %.17g %.17g %.17g", default, least, most))
  local size = string_unpack and long or 8
  self:request(format("value %d %d 0", id, size))
  return to_double(read(self.device, size))
end

function machine:boolean(name, default)
  self:begin()
  local id = self:request("input " .. quote(name) .. " bool " .. (default and "1" or "0"))
  return self:number(id, 0, 1) ~= 0
end

function machine:choice(name, index, n)
  self:begin()
  local id, chosen = self:request("input " .. quote(name) .. format(" choice %d %d", index, n))
  self.choice_id = id
  return chosen
end

-- What stands at the index that choice has given.
function machine:chosen(tokens)
  self:offer(format("chosen %d - %d", self.choice_id, #tokens), tokens)
end

function machine:log(text)
  if not self.begun then
    self.waiting[#self.waiting + 1] = text
    return
  end
  self:text("log", text)
end

function machine:prune()
  self:begin()
  self:request("prune")
end

function machine:concretize(text)
  self:begin()
  self:text("concretize", text)
  return read(self.device, #text)
end

function machine:returned(tokens)
  self:begin()
  for from = 1, #tokens, most_text do
    local part = sub(tokens, from, from + most_text - 1)
    self:offer("returned - " .. digits(#part), part)
  end
end

function machine:frames(frames)
  self:begin()
  local line = "frames " .. digits(#frames)
  for _, frame in ipairs(frames) do
    line = line .. " " .. quote(frame)
  end
  self:offer(line)
end

function machine:outcome(kind, type_name, message)
  self:begin()
  self:text("outcome " .. kind .. " " .. quote(type_name), message)
  self.told = true
end

function machine:usage(message)
  self:request("usage " .. quote(message))
end

-- Tells the engine which tests the file has; does not return.
function machine:tests(names)
  local line = "tests " .. digits(#names)
  for _, name in ipairs(names) do
    line = line .. " " .. quote(name)
  end
  self:request(line)
end

-- The session of a native replay -----------------------------------------------------------------------------

local replay = { last = last }

-- The value that JSON text holds. Integers keep every digit; characters beyond ASCII stay UTF-8.
local function from_json(text)
  local at = 1
  local value
  local function skip(pattern)
    local _, last = find(text, "^" .. pattern, at)
    if last then
      at = last + 1
    end
    return last
  end
  local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
  local function text_of()
    local out = {}
    while true do
      local plain = match(text, '^[^"\\]*', at)
      out[#out + 1] = plain
      at = at + #plain
      local c = sub(text, at, at + 1)
      if sub(c, 1, 1) == '"' then
        at = at + 1
        return concat(out)
      elseif c == "\\u" then -- below U+0080: every string input is ASCII
        out[#out + 1] = char(tonumber(sub(text, at + 2, at + 5), 16) % 256)
        at = at + 6
      else
        out[#out + 1] = escapes[sub(c, 2)] or sub(c, 2)
        at = at + 2
      end
    end
  end
  local function list(close, item)
    local out = {}
    while not skip("%s*" .. close) do
      skip("%s*,")
      item(out)
    end
    return out
  end
  function value()
    skip("%s*")
    if skip('"') then
      return text_of()
    elseif skip("{") then
      return list("}", function(out)
        skip('%s*"')
        local key = text_of()
        skip("%s*:")
        out[key] = value()
      end)
    elseif skip("%[") then
      return list("%]", function(out) out[#out + 1] = value() end)
    end
    local word = match(text, "^[%w.+-]+", at)
    at = at + #word
    if word == "true" or word == "false" then
      return word == "true"
    end
    return tonumber(word)
  end
  return value()
end

local function to_json(v)
  if type(v) == "table" then
    local out = {}
    for i, item in ipairs(v) do
      out[i] = to_json(item)
    end
    return "[" .. concat(out, ",") .. "]"
  end
  return '"' .. gsub(v, '[%c"\\\127]', function(c) return format("\\u%04x", byte(c)) end) .. '"'
end

function replay.new(path, out)
  return setmetatable({ path = path, at = 0, lines = {}, out = out }, { __index = replay })
end

-- Reads the inputs; nothing before this depends on them.
function replay:begin()
  if not self.inputs then
    local file = assert(open(self.path, "rb"))
    self.inputs = from_json(read(file, "*a")).inputs
    close(file)
  end
end

function replay:next(kind, name)
  self:begin()
  self.at = self.at + 1
  local item = self.inputs[self.at]
  if not item then
    usage_error("replay: no value for input %s", name)
  elseif item.name ~= name or item.type ~= kind then
    usage_error("replay: the test declares %s %s, the file has %s %s", kind, name, item.type, item.name)
  end
  return item
end

function replay:sequence(kind, name, default, least, most)
  local hex = self:next(kind, name).bytes_hex or ""
  local text = gsub(hex, "%x%x", function(pair) return char(tonumber(pair, 16)) end)
  if #text < least or #text > most then
    usage_error("replay: the length of %s is out of bounds", name)
  end
  return text
end

function replay:integer(name, default, least, most)
  local value = self:next("int", name).value
  if value < least or value > most then
    usage_error("replay: the value of %s is out of bounds", name)
  end
  return value
end

local infinities = { ["+Inf"] = huge, ["-Inf"] = -huge }

function replay:float(name, default, least, most)
  local text = self:next("float", name).value
  local value = infinities[text] or tonumber(find(text, "[.e]") and text or text .. ".0")
  if value < least or value > most then
    usage_error("replay: the value of %s is out of bounds", name)
  end
  return value
end

function replay:boolean(name)
  return self:next("bool", name).value
end

function replay:choice(name, index, n)
  local value = self:next("choice", name).value
  if value < 0 or value >= n then
    usage_error("replay: the value of %s is out of bounds", name)
  end
  return value
end

function replay:chosen() end

function replay:log(text)
  self.lines[#self.lines + 1] = text
  if self.told then
    self:outcome(unpack(self.told))
  end
end

function replay:prune()
  self:outcome("pruned", "", "")
  exit(0)
end

function replay:concretize(text)
  return text
end

function replay:returned(tokens)
  self.value = gsub(tokens, ".", function(c) return format("%02x", byte(c)) end)
end

function replay:frames(frames)
  self.places = frames
end

-- Writes the outcome.
function replay:outcome(kind, type_name, message)
  self.told = { kind, type_name, message }
  if self.out then
    know_files()
    local file = assert(open(self.out, "wb"))
    write(file, '{"version":1,"kind":', to_json(kind), ',"type":', to_json(type_name), ',"message":', to_json(message), ',"log":',
      to_json(self.lines))
    if self.value then
      write(file, ',"returned_hex":', to_json(self.value))
    end
    if self.places then
      write(file, ',"frames":', to_json(self.places))
    end
    write(file, "}\n")
    close(file)
  end
end

function replay:usage(message)
  write(stderr, "symchef: ", message, "\n")
  self:outcome("usage", "", message)
  exit(2)
end

function replay:tests(names)
  usage_error("several tests in the file, choose one with ::NAME: %s", concat(names, ", "))
end

-- Values as tokens ---------------------------------------------------------------------------------------

-- docs/device-protocol.md. Texts are copied, and tables are looked at raw.
local most_bytes, most_nodes, most_depth, cut = 2 ^ 17, 2 ^ 13, 8, "z0:"
local beginning = 64 -- characters of a text that there is no room for

local function leaf(letter, text)
  return letter .. digits(#text) .. ":" .. text
end

-- A number that is not negative, without string.pack.
local function count_token(n)
  local text = "i8:"
  for _ = 1, 8 do
    text = text .. char(n % 256)
    n = (n - n % 256) / 256
  end
  return text
end

-- The names of Lua's own functions; of several that one has, the first by the alphabet.
local names = {}
local function called(v, name)
  if type(v) == "function" and type(name) == "string" and not (names[v] and names[v] < name) then
    names[v] = name
  end
end
for name, v in next, globals do
  called(v, name)
  for field, f in next, type(v) == "table" and v ~= globals and v ~= loaded and v or {} do
    called(f, name .. "." .. field)
  end
end

-- Where a function stands, or its name.
local function defined(f)
  local at = getinfo(f, "S")
  if at.what == "C" then
    return names[f]
  end
  local name = byte(at.source) == 64 and match(at.source, "([^/]*)$") or "[string]"
  return name .. ":" .. digits(at.linedefined)
end

-- A table with a metatable, by the fields of that which Lua knows.
local function with_meta(meta)
  local found = {}
  for key in next, meta do
    if type(key) == "string" and byte(key) == 95 and byte(key, 2) == 95 then
      found[#found + 1] = key
    end
  end
  sort(found)
  return #found == 0 and "table with metatable" or "table with " .. concat(found, " ")
end

-- Before another in a mapping: numbers, then strings, the short ones first, then booleans.
local order = { number = 1, string = 2, boolean = 3 }

local function before(a, b)
  local kind = type(a)
  if kind ~= type(b) then
    return order[kind] < order[type(b)]
  elseif kind == "string" and #a ~= #b then
    return #a < #b
  elseif kind == "boolean" then
    return not a and b
  end
  return a < b
end

local function encode(values, n)
  local room, nodes, out = most_bytes - #cut, most_nodes, {}
  local add
  local function put(token) -- in a place of the length of a cut, which has been reserved
    local more = #token - #cut
    if more > room then
      token, more = cut, 0
    end
    room = room - more
    out[#out + 1] = token
  end
  local function long(begin, length)
    put("L1:" .. begin .. count_token(length) .. "n0:")
  end
  local function head(letter, count, places)
    local token = letter .. digits(count) .. ":"
    local more = #token - #cut + places * #cut
    if more > room or places > nodes then
      long(letter .. "0:", count)
      return false
    end
    room, nodes = room - more, nodes - places
    out[#out + 1] = token
    return true
  end
  local function mapping(v, depth)
    local keys, others = {}, 0
    for key in next, v do
      if order[type(key)] then
        keys[#keys + 1] = key
      else
        others = others + 1
      end
    end
    local all = #keys + others
    if all <= most_nodes then
      sort(keys, before)
    end
    if head("{", all, 2 * all) then
      for _, key in ipairs(keys) do
        add(key, depth + 1)
        add(rawget(v, key), depth + 1)
      end
      for _ = 1, 2 * others do
        out[#out + 1] = cut
      end
    end
  end
  function add(v, depth)
    local kind = type(v)
    local meta = (kind == "table" or kind == "userdata") and getmetatable(v)
    local name = type(meta) == "table" and rawget(meta, "__name")
    if kind == "nil" then
      put("n0:")
    elseif kind == "boolean" then
      put(v and "T0:" or "F0:")
    elseif kind == "string" then
      if #v > room then
        long(leaf("s", sub(v, 1, beginning)), #v)
      else
        put(leaf("s", v))
      end
    elseif kind == "number" then
      if not string_pack then -- nothing gives its bytes
        put(cut)
      elseif math_type(v) == "integer" then
        put(leaf("i", string_pack("<i8", v)))
      else
        put(leaf("f", string_pack("<d", v)))
      end
    elseif type(name) == "string" then
      put(leaf("o", name))
    elseif kind ~= "table" then
      local what = kind == "function" and defined(v)
      put(what and "k1:" .. leaf("o", kind) .. leaf("o", what) or leaf("o", kind))
    elseif depth >= most_depth then
      out[#out + 1] = cut
    else
      if type(meta) == "table" then
        local token = "k1:" .. leaf("o", with_meta(meta))
        if #token > room then
          put(cut)
          return
        end
        room = room - #token
        out[#out + 1] = token
      end
      local count, n = 0, rawlen(v)
      for _ in next, v do
        count = count + 1
        if count > n or rawget(v, count) == nil then -- has other keys
          count = n + 1
          break
        end
      end
      if count == n then
        if head("l", n, n) then
          for i = 1, n do
            add(rawget(v, i), depth + 1)
          end
        end
      else
        mapping(v, depth)
      end
    end
  end
  if n == 1 then
    add(values[1], 0)
  elseif n == 0 then
    put("n0:")
  elseif head("(", n, n) then
    for i = 1, n do
      add(values[i], 1)
    end
  end
  return concat(out)
end

-- What a test calls ------------------------------------------------------------------------------------------

local function current()
  if not session then
    usage_error("inputs exist only inside a test run by symchef")
  end
  return session
end

-- The session, for an input.
local function named(name)
  if type(name) ~= "string" or name == "" then
    usage_error("an input's name is a non-empty string")
  end
  return current()
end

local function whole(v)
  return type(v) == "number" and v % 1 == 0 and v or nil
end

local function sequence(kind, name, size, least)
  local s = named(name)
  local default = type(size) == "string" and size or nil
  local most = default and #default or whole(size)
  least = least == nil and most or whole(least)
  if not most or not least or least < 0 or least > most or most > 2 ^ 20 then
    usage_error("input %s: needs a size, or a default, and 0 <= least <= size", name)
  end
  default = default or rep(kind == "str" and "a" or "\0", most)
  if kind == "str" and find(default, "[\128-\255]") then
    usage_error("input %s: the default is not ASCII", name)
  end
  return s:sequence(kind, name, default, least, most)
end

--- A symbolic string of ASCII characters: of exactly size, or of least to size. In place of the size, the first
--- value to try.
function symchef.string(name, size, least)
  return sequence("str", name, size, least)
end

--- A symbolic string of any bytes; sizes as for string.
function symchef.bytes(name, size, least)
  return sequence("bytes", name, size, least)
end

--- A symbolic integer, least <= value <= most; default is the first value to try. In Lua 5.1 and 5.2, whose numbers are
--- doubles, the bounds are at most 2^52.
function symchef.integer(name, least, most, default)
  local s = named(name)
  if least == nil then
    least = least_integer
  end
  if most == nil then
    most = most_integer
  end
  local lo, hi = whole(least), whole(most)
  if not lo or not hi or lo > hi or lo < least_integer or hi > most_integer then
    usage_error("input %s: integer(name, least, most, default) needs whole numbers, least <= most", name)
  end
  if default == nil then
    default = lo > 0 and lo or hi < 0 and hi or 0
  end
  local first = whole(default)
  if not first or first < lo or first > hi then
    usage_error("input %s: integer(name, least, most, default): the default is not within the bounds", name)
  end
  return s:integer(name, first, lo, hi)
end

--- A symbolic number, a double, least <= value <= most; without bounds an infinity too, but never NaN. default is the first
--- value to try.
function symchef.number(name, least, most, default)
  local s = named(name)
  if least == nil then
    least = -huge
  end
  if most == nil then
    most = huge
  end
  if type(least) ~= "number" or type(most) ~= "number" or not (least <= most) then
    usage_error("input %s: number(name, least, most, default) needs numbers, least <= most", name)
  end
  if default == nil then
    default = least > 0 and least or most < 0 and most or 0
  end
  if type(default) ~= "number" or not (least <= default and default <= most) then
    usage_error("input %s: number(name, least, most, default): the default is not within the bounds", name)
  end
  return s:float(name, default * 1.0, least * 1.0, most * 1.0)
end

--- true or false; the path forks here.
function symchef.boolean(name, default)
  local s = named(name)
  if default ~= nil and type(default) ~= "boolean" then
    usage_error("input %s: the default is true or false", name)
  end
  return s:boolean(name, default or false)
end

--- One of the values of a list; the path forks once per value.
function symchef.choice(name, options, default)
  local s = named(name)
  if type(options) ~= "table" or #options == 0 then
    usage_error("input %s: no options", name)
  end
  local index = 0
  if default ~= nil then
    for i, option in ipairs(options) do
      if option == default then
        index = i
      end
    end
    if index == 0 then
      usage_error("input %s: the default is not among the options", name)
    end
    index = index - 1
  end
  local option = options[s:choice(name, index, #options) + 1]
  s:chosen(encode({ option }, 1))
  return option
end

--- Goes on only where the condition holds. Evaluating it has already split the paths.
function symchef.assume(condition)
  if not condition then
    current():prune()
  end
end

-- The text of a value: its own for a string and a number, else what tostring says.
local function text_of(v)
  local kind = type(v)
  return kind == "string" and v or kind == "number" and v .. "" or tostring(v)
end

--- A line in the test case: the values' texts, joined by spaces.
function symchef.log(...)
  local texts = { ... }
  for i = 1, select("#", ...) do
    texts[i] = text_of(texts[i])
  end
  current():log(concat(texts, " "))
end

--- The value, fixed to one on this path; the others are explored on others. Takes strings, numbers, booleans.
function symchef.concretize(value)
  local s, kind = current(), type(value)
  if kind == "boolean" then
    return value and true or false
  elseif kind == "string" then
    return value == "" and "" or s:concretize(value)
  elseif kind == "number" and string_pack then
    local format = math_type(value) == "integer" and "<i8" or "<d"
    return (string_unpack(format, s:concretize(string_pack(format, value) .. rep("\0", long))))
  elseif kind == "number" then
    return tonumber(s:concretize(format("%.17g", value)))
  end
  usage_error("concretize takes a string, a number or a boolean, not a %s", kind)
end

--- Declares errors that are no findings: those whose message holds one of the texts, and error objects that are one
--- of the tables or have it as their metatable.
function symchef.expect(...)
  for _, e in ipairs({ ... }) do
    if type(e) ~= "string" and type(e) ~= "table" then
      usage_error("expect takes strings and tables")
    end
    local s = current()
    s.expected[#s.expected + 1] = e
  end
end

-- A hook that the test has set does not see what the library does: the two sessions differ in that.
-- The functions have variables of their own, which debug.setupvalue may take from them.
do
  local gethook, sethook, pcall, error = gethook, sethook, pcall, error
  for name, call in next, symchef do
    local function hooked(hook, mask, count, ok, ...)
      sethook(hook, mask, count)
      if ok then
        return ...
      end
      error(..., 0)
    end
    symchef[name] = function(...)
      local hook, mask, count = gethook()
      if not hook then
        return call(...)
      end
      sethook()
      return hooked(hook, mask, count, pcall(call, ...))
    end
  end
end

-- The runner -------------------------------------------------------------------------------------------------

-- The metatable of a table or a userdata, whatever it says of itself.
local function meta_of(e)
  local meta = (type(e) == "table" or type(e) == "userdata") and getmetatable(e)
  return type(meta) == "table" and meta or nil
end

-- What an error is called: error for a message, else the object's __name or its type.
local function type_name(e)
  local meta = meta_of(e)
  local name = meta and rawget(meta, "__name")
  return type(e) == "string" and "error" or type(name) == "string" and name or type(e)
end

-- As lua itself says it: a string and a number are told raw, of others the metatable is asked, that of a basic type, too.
local function message_of(e)
  local meta = getmetatable(e)
  if type(e) == "string" or type(e) == "number" or type(meta) == "table" and rawget(meta, "__tostring") ~= nil then
    local ok, text = pcall(text_of, e)
    return ok and type(text) == "string" and text or ""
  end
  return "(error object is a " .. type(e) .. " value)"
end

local function is_usage(e)
  return type(e) == "table" and rawequal(getmetatable(e), UsageError)
end

local function expected(e)
  for _, x in ipairs(session.expected) do
    if type(x) == "string" then
      if type(e) == "string" and find(e, x, 1, true) then
        return true
      end
    elseif rawequal(e, x) or type(e) == "table" and rawequal(getmetatable(e), x) then
      return true
    end
  end
  return false
end

-- Where a function of Lua is found by a name, in a module or among the globals: the first of its names, as modules have them; else where it is
-- defined. A call in the place of a return leaves nothing that names it.
local function name_of(at, file)
  local found
  local function look(names, prefix)
    for name, v in next, names do
      if type(name) == "string" and type(v) == "function" and rawequal(v, at.func) then
        name = prefix .. name
        if not found or #name < #found or #name == #found and name < found then
          found = name
        end
      end
    end
  end
  look(globals, "")
  for module, names in next, loaded do
    if type(module) == "string" and type(names) == "table" and not rawequal(names, globals) then
      look(names, module .. ".")
    end
  end
  return found or "function <" .. match(file, "[^/]*$") .. ":" .. digits(at.linedefined) .. ">"
end

-- FILE:LINE:FUNCTION of the calls that lead to an error, outermost first; own are left out, and those in C. At most the
-- innermost ones.
local most_frames = 50
local test, entry -- the test, and the function that it is or has

local function frames_of(from)
  local found = {}
  for level = from, from + 4 * most_frames do
    local at = getinfo(level, "Slnf")
    if not at or #at.source == #own and at.source == own or #found == most_frames then
      break
    elseif at.what ~= "C" and at.currentline > 0 then -- in 5.1 a call in the place of a return is a level without a line
      local file = byte(at.source) == 64 and sub(at.source, 2) or "[string]"
      local name = at.what == "main" and "main chunk" or at.name or name_of(at, file)
      found[#found + 1] = file .. ":" .. digits(at.currentline) .. ":" .. name
    end
  end
  local out = {}
  for i = #found, 1, -1 do
    out[#out + 1] = found[i]
  end
  return out
end

local function run_of(v)
  return v.run
end

local function is_test(v)
  if type(v) ~= "table" then
    return type(v) == "function"
  end
  local ok, run = pcall(run_of, v)
  return ok and type(run) == "function"
end

-- The name and value of the one test to run, of those that a file returns or defines as globals test...
local function choose(result, defined, wanted)
  if is_test(result) then
    if wanted == "*" then
      session:tests({ "test" })
    elseif wanted and wanted ~= "test" then
      usage_error("no test named %s: the file returns one test", wanted)
    end
    return "test", result
  end
  local tests, names = {}, {}
  for name, v in next, type(result) == "table" and result or defined do
    if type(name) == "string" and is_test(v) and (result ~= nil or find(name, "^test")) then
      tests[name] = v
      names[#names + 1] = name
    end
  end
  sort(names)
  local list = concat(names, ", ")
  if wanted == "*" or not wanted and #names > 1 then
    session:tests(names)
  elseif wanted then
    if not tests[wanted] then
      usage_error("no test named %s; tests here: %s", wanted, #names > 0 and list or "none")
    end
    return wanted, tests[wanted]
  elseif #names == 0 then
    usage_error("no test: return a function, or a table with run, or define a global function test...")
  end
  return names[1], tests[names[1]]
end

-- Loads the test file; its folder comes first where require looks.
local function load_test(path, wanted)
  local folder = match(path, "^(.*)/[^/]*$") or "."
  package.path = folder .. "/?.lua;" .. folder .. "/?/init.lua;" .. package.path
  local chunk, why = loadfile(path)
  if not chunk then
    usage_error("%s", why)
  end
  arg = { [0] = path }
  local known = {}
  for name in next, globals do
    known[name] = true
  end
  local ok, result = pcall(chunk)
  if not ok then
    if is_usage(result) then
      error(result, 0)
    end
    usage_error("running it failed: %s", message_of(result))
  end
  local defined = {}
  for name, v in next, globals do
    if not known[name] then
      defined[name] = v
    end
  end
  return choose(result, defined, wanted)
end

-- The run of the test. The test may do anything to the variables of the functions that have called it, and set their upvalues. So these
-- functions (start, run) have nothing that is needed later, the others have been left by calls in the place of a return, and what
-- comes later uses none of their variables.
local path, ready
local by_assert, frames, hooked = false, nil, false

local function prepare(argument)
  local wanted
  path, wanted = match(argument, "^(.*)::(.-)$")
  path = path or argument
  session.test, test = load_test(path, wanted)
  if type(test) == "table" then
    local setup = test.setup
    if setup then
      setup(test)
    end
    entry = test.run
  else
    entry = test
  end
  ready = true
  local hook, mask, count = gethook()
  sethook()
  session:begin()
  if hook then
    sethook(hook, mask, count)
  end
end

local function on_error(e)
  hooked = gethook() ~= nil
  sethook()
  local raiser = getinfo(2, "f") -- what called error, where the error is
  by_assert = raiser ~= nil and rawequal(raiser.func, assert)
  frames = frames_of(3)
  return e
end

-- Tells how it ended; ok is nil where the test has taken it.
local function told(ok, ...)
  sethook()
  if ok ~= false then
    session:returned(encode({ ... }, select("#", ...)))
    session:outcome("ok", "", "")
    return
  end
  local e = ...
  if is_usage(e) or not ready then
    session:usage(path .. ": " .. (is_usage(e) and rawget(e, "message") or message_of(e)))
  end
  local kind = "exception"
  if expected(e) then
    kind = "expected"
  elseif by_assert then
    kind = "assertion"
  end
  if frames and #frames > 0 then
    session:frames(frames)
  end
  session:outcome(kind, type_name(e), message_of(e))
end

-- Where even that fails, this is what the test did.
local function damaged()
  if not session.told then
    session:outcome("exception", "symchef.Damaged", "the test has changed variables of the library")
  end
end

local start
do
  local xpcall, prepare, on_error, told, damaged = xpcall, prepare, on_error, told, damaged
  local argument
  local function body()
    prepare(argument)
    if rawequal(entry, test) then
      return entry()
    end
    return entry(test)
  end
  local function run()
    return told(xpcall(body, on_error))
  end
  function start(a)
    argument = a
    a = nil
    local ok, e = xpcall(run, on_error)
    if ok == false and hooked then -- a hook that the test has set does not let the library go on
      return told(ok, e)
    elseif ok == false then
      return damaged()
    end
  end
end

local function main(argument)
  local path, out = getenv("SYMCHEF_REPLAY"), getenv("SYMCHEF_OUTCOME")
  if not path then -- the files of a replay that shows the environment of the machine (docs/device-protocol.md)
    local native = open("/symchef/replay/native")
    if native then
      close(native)
      path, out = "/symchef/replay/inputs.json", "/symchef/replay/outcome.json"
    end
  end
  if path then
    session = replay.new(path, out)
  else
    session = setmetatable({ waiting = {} }, { __index = machine })
  end
  session.expected = {}
  if not argument then
    session:usage("usage: lua symchef.lua TEST[::NAME]")
  end
  return start(argument)
end

return main(...)
