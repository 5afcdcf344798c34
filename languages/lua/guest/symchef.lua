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
-- test's are looked at raw.
local type, tostring, tonumber, next, select, ipairs = type, tostring, tonumber, next, select, ipairs
local error, pcall, xpcall, assert, setmetatable = error, pcall, xpcall, assert, setmetatable
local rawequal, rawget, globals, loadfile, package = rawequal, rawget, _G, loadfile, package
local unpack = unpack or table.unpack
local byte, char, find, format, gmatch, gsub = string.byte, string.char, string.find, string.format, string.gmatch, string.gsub
local match, rep, sub, dump, string_pack, string_unpack = string.match, string.rep, string.sub, string.dump, string.pack, string.unpack
local concat, sort = table.concat, table.sort
local huge, math_type, least_integer, most_integer = math.huge, math.type, math.mininteger or -2 ^ 52, math.maxinteger or 2 ^ 52
local open, stdout, stderr, io_type = io.open, io.stdout, io.stderr, io.type
local write, read, flush, close, setvbuf = stdout.write, stdout.read, stdout.flush, stdout.close, stdout.setvbuf
local getenv, exit, loaded = os.getenv, os.exit, package.loaded
local getinfo, getmetatable, gethook, sethook = debug.getinfo, debug.getmetatable, debug.gethook, debug.sethook
local load = loadstring or load
local rawlen = rawlen or function(t) return #t end -- # is raw where there is no rawlen
local own = getinfo(1, "S").source

-- A mistake of the test: what it asked for cannot be.
local UsageError = setmetatable({}, { __tostring = function() return "symchef.UsageError" end })
UsageError.__index = UsageError
UsageError.__name = "symchef.UsageError"
UsageError.__tostring = function(e) return e.message end

local function usage_error(message, ...)
  error(setmetatable({ message = format(message, ...) }, UsageError), 0)
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

-- Integers have 64 bits where the language has them; else they are those whose distances a double holds exactly: least_integer to
-- most_integer.

-- Decimal digits of a whole number; %d of Lua 5.1 is that of C.
local function digits(n)
  return format("%d", n)
end

-- The session inside the machine ------------------------------------------------------------------------------

local machine = {}

-- A field of a request: percent-encoded, % for the empty text.
local function quote(text)
  if text == "" then
    return "%"
  end
  return (gsub(text, "[^!-$&-~]", function(c) return format("%%%02X", byte(c)) end))
end

-- Opens the device: up to there the interpreter may run natively.
function machine:open()
  self.device = open("/dev/symchef", "a+")
  if not self.device then
    write(stderr, "symchef: not inside symchef and SYMCHEF_REPLAY is not set: nothing to run\n")
    exit(2)
  end
  setvbuf(self.device, "full", 2 ^ 22)
  self:request("hello 1")
end

-- One round trip: the line, and what follows it, are one write; the fields of the reply as numbers.
function machine:request(line, body)
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
    self:request(self.test and "begin " .. quote(self.test) or "begin")
    for _, text in ipairs(self.waiting) do
      self:log(text)
    end
  end
end

function machine:sequence(kind, name, default, least, most)
  self:begin()
  local line = format("input %s %s %s %s %s", quote(name), kind, quote(default), digits(least), digits(most))
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
  self:request(format("value %d 8 %s", id, digits(least)))
  local bytes = { byte(read(self.device, 8), 1, size) }
  local n = bytes[size]
  for i = size - 1, 1, -1 do
    n = n * 256 + bytes[i]
  end
  return n + least
end

function machine:integer(name, default, least, most)
  self:begin()
  local id = self:request(format("input %s int %s %s %s", quote(name), digits(default), digits(least), digits(most)))
  return self:number(id, least, most)
end

-- Eight bytes as a double. Where nothing reads them, the interpreter does, as a constant in compiled code.
local to_double
if string_unpack then
  function to_double(s) return (string_unpack("<d", s)) end
else
  local pi = "\24\45\68\84\251\33\9\64"
  local code = dump(load("return 3.141592653589793"))
  local at = find(code, pi, 1, true)
  local head, tail = sub(code, 1, at - 1), sub(code, at + 8)
  function to_double(s) return load(head .. s .. tail)() end
end

function machine:float(name, default, least, most)
  self:begin()
  local id = self:request(format("input %s float %.17g %.17g %.17g", quote(name), default, least, most))
  local size = string_unpack and long or 8
  self:request(format("value %d %d 0", id, size))
  return to_double(read(self.device, size))
end

function machine:boolean(name, default)
  self:begin()
  local id = self:request(format("input %s bool %d", quote(name), default and 1 or 0))
  return self:number(id, 0, 1) ~= 0
end

function machine:choice(name, index, n)
  self:begin()
  local id, chosen = self:request(format("input %s choice %d %d", quote(name), index, n))
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
  self:offer("returned - " .. digits(#tokens), tokens)
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

local replay = {}

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
    local file = assert(open(self.out, "wb"))
    write(file, format('{"version":1,"kind":%s,"type":%s,"message":%s,"log":%s', to_json(kind), to_json(type_name),
      to_json(message), to_json(self.lines)))
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
local most_bytes, most_depth, cut = 4096, 8, "z0:"

local function leaf(letter, text)
  return letter .. digits(#text) .. ":" .. text
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
  local room, out = most_bytes - #cut, {}
  local add
  local function put(token) -- in a place of the length of a cut, which has been reserved
    local more = #token - #cut
    if more > room then
      token, more = cut, 0
    end
    room = room - more
    out[#out + 1] = token
  end
  local function head(letter, count, places)
    local token = letter .. digits(count) .. ":"
    local more = #token - #cut + places * #cut
    if more > room then
      out[#out + 1] = cut
      return false
    end
    room = room - more
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
      if #keys + others > most_bytes then
        put(cut)
        return
      end
    end
    sort(keys, before)
    local all = #keys + others
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
      put(#v > most_bytes and cut or leaf("s", v))
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
      put(leaf("o", kind))
    elseif depth >= most_depth then
      out[#out + 1] = cut
    else
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

local function current(name)
  if not session then
    usage_error("inputs exist only inside a test run by symchef")
  elseif name ~= nil and (type(name) ~= "string" or name == "") then
    usage_error("an input's name is a non-empty string")
  end
  return session
end

local function whole(v)
  return type(v) == "number" and v % 1 == 0 and v or nil
end

local function sequence(kind, name, size, least)
  local s = current(name)
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
  local s = current(name)
  least, most = least or least_integer, most or most_integer
  local lo, hi = whole(least), whole(most)
  if not lo or not hi or lo > hi or lo < least_integer or hi > most_integer then
    usage_error("input %s: integer(name, least, most, default) needs whole numbers, least <= most", name)
  end
  local first = whole(default or (lo > 0 and lo or hi < 0 and hi or 0))
  if not first or first < lo or first > hi then
    usage_error("input %s: integer(name, least, most, default): the default is not within the bounds", name)
  end
  return s:integer(name, first, lo, hi)
end

--- A symbolic number, a double, least <= value <= most; without bounds an infinity too, but never NaN. default is the first
--- value to try.
function symchef.number(name, least, most, default)
  local s = current(name)
  least, most = least or -huge, most or huge
  if type(least) ~= "number" or type(most) ~= "number" or not (least <= most) then
    usage_error("input %s: number(name, least, most, default) needs numbers, least <= most", name)
  end
  default = default or (least > 0 and least or most < 0 and most or 0)
  if type(default) ~= "number" or not (least <= default and default <= most) then
    usage_error("input %s: number(name, least, most, default): the default is not within the bounds", name)
  end
  return s:float(name, default * 1.0, least * 1.0, most * 1.0)
end

--- true or false; the path forks here.
function symchef.boolean(name, default)
  return current(name):boolean(name, default and true or false)
end

--- One of the values of a list; the path forks once per value.
function symchef.choice(name, options, default)
  local s = current(name)
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

--- A line in the test case: the values' texts, joined by spaces.
function symchef.log(...)
  local texts = { ... }
  for i = 1, select("#", ...) do
    texts[i] = tostring(texts[i])
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

local function message_of(e)
  local meta = meta_of(e)
  if type(e) == "string" or type(e) == "number" or meta and rawget(meta, "__tostring") ~= nil then
    local ok, text = pcall(tostring, e)
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
  return found or format("function <%s:%d>", match(file, "[^/]*$"), at.linedefined)
end

-- FILE:LINE:FUNCTION of the calls that lead to an error, outermost first; own are left out, and those in C. At most the
-- innermost ones.
local most_frames = 50

local function frames_of(from)
  local found = {}
  for level = from, from + 4 * most_frames do
    local at = getinfo(level, "Slnf")
    if not at or #at.source == #own and at.source == own or #found == most_frames then
      break
    elseif at.what ~= "C" and at.currentline > 0 then -- in 5.1 a call in the place of a return is a level without a line
      local file = byte(at.source) == 64 and sub(at.source, 2) or "[string]"
      local name = at.what == "main" and "main chunk" or at.name or name_of(at, file)
      found[#found + 1] = format("%s:%d:%s", file, at.currentline, name)
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

local function run(argument)
  local path, wanted = match(argument, "^(.*)::(.-)$")
  path = path or argument
  local by_assert, frames, ready = false, nil, false
  local values, n
  local function keep(...)
    sethook()
    values, n = { ... }, select("#", ...)
  end
  local ok, e = xpcall(function()
    local name, test = load_test(path, wanted)
    session.test = name
    if type(test) == "table" then
      local setup = test.setup
      if setup then
        setup(test)
      end
    end
    ready = true
    local hook, mask, count = gethook()
    sethook()
    session:begin()
    if hook then
      sethook(hook, mask, count)
    end
    if type(test) == "table" then
      keep(test:run())
    else
      keep(test())
    end
  end, function(e)
    sethook()
    local raiser = getinfo(2, "f") -- what called error, where the error is
    by_assert = raiser ~= nil and rawequal(raiser.func, assert)
    frames = frames_of(3)
    return e
  end)
  if ok then
    session:returned(encode(values, n))
    session:outcome("ok", "", "")
    return
  end
  if is_usage(e) or not ready then
    session:usage(path .. ": " .. (is_usage(e) and e.message or message_of(e)))
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
  run(argument)
end

main(...)
