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

local io, os, string, table, math = io, os, string, table, math
local type, tostring, tonumber, pairs, ipairs, select = type, tostring, tonumber, pairs, ipairs, select
local error, pcall, rawequal, getmetatable, setmetatable = error, pcall, rawequal, getmetatable, setmetatable
local assert, xpcall, debug = assert, xpcall, debug

-- A mistake of the test: what it asked for cannot be.
local UsageError = setmetatable({}, { __tostring = function() return "symchef.UsageError" end })
UsageError.__index = UsageError
UsageError.__name = "symchef.UsageError"
UsageError.__tostring = function(e) return e.message end

local function usage_error(message, ...)
  error(setmetatable({ message = string.format(message, ...) }, UsageError), 0)
end

local session -- the present one: of the machine or of a replay

-- Integers have 64 bits where the language has them; else they are those whose distances a double holds exactly.
local least_integer = math.mininteger or -2 ^ 52
local most_integer = math.maxinteger or 2 ^ 52

-- Decimal digits of a whole number; %d of Lua 5.1 is that of C.
local function digits(n)
  return string.format("%d", n)
end

-- The session inside the machine ------------------------------------------------------------------------------

local machine = {}

-- A field of a request: percent-encoded, % for the empty text.
local function quote(text)
  if text == "" then
    return "%"
  end
  return (text:gsub("[^!-$&-~]", function(c) return string.format("%%%02X", c:byte()) end))
end

-- One round trip: the line, and what follows it, are one write; the fields of the reply as numbers.
function machine:request(line, body)
  self.device:write(line, "\n", body or "")
  self.device:flush()
  local reply = self.device:read()
  if reply == "ok" then
    return
  end
  local fields = reply:match("^ok (.*)$")
  if not fields then
    usage_error("%s", reply:match("^err (.*)$") or "bad reply: " .. reply)
  end
  local numbers = {}
  for field in fields:gmatch("%S+") do
    numbers[#numbers + 1] = tonumber(field)
  end
  return (unpack or table.unpack)(numbers)
end

-- A request about a text: its length, and the text behind the line.
function machine:text(line, text)
  return self:request(line .. " - " .. digits(#text), text)
end

function machine:begin()
  if not self.begun then
    self.begun = true
    self:request("begin " .. quote(self.test))
  end
end

function machine:sequence(kind, name, default, least, most)
  self:begin()
  local line = string.format("input %s %s %s %s %s", quote(name), kind, quote(default), digits(least), digits(most))
  if kind == "str" then
    line = line .. " 1"
  end
  local id, n = self:request(line)
  if n == 0 then
    return ""
  end
  self:request(string.format("value %d %d 0", id, n))
  return self.device:read(n)
end

-- The number of an input. Its bytes come in a string too long to be interned; where nothing reads them as a signed integer,
-- they hold its distance from the least one.
local long = 48

function machine:number(id, least, most)
  if string.unpack then
    self:request(string.format("value %d %d 0", id, long))
    return (string.unpack("<i8", self.device:read(long)))
  end
  local size = 1
  while 256 ^ size <= most - least do
    size = size + 1
  end
  self:request(string.format("value %d 8 %s", id, digits(least)))
  local bytes = { self.device:read(8):byte(1, size) }
  local n = bytes[size]
  for i = size - 1, 1, -1 do
    n = n * 256 + bytes[i]
  end
  return n + least
end

function machine:integer(name, default, least, most)
  self:begin()
  local id = self:request(string.format("input %s int %s %s %s", quote(name), digits(default), digits(least), digits(most)))
  return self:number(id, least, most)
end

-- Eight bytes as a double. Where nothing reads them, the interpreter does, as a constant in compiled code.
local load, to_double = loadstring or load
if string.unpack then
  function to_double(s) return (string.unpack("<d", s)) end
else
  local pi = "\24\45\68\84\251\33\9\64"
  local code = string.dump(load("return 3.141592653589793"))
  local at = code:find(pi, 1, true)
  local head, tail = code:sub(1, at - 1), code:sub(at + 8)
  function to_double(s) return load(head .. s .. tail)() end
end

function machine:float(name, default, least, most)
  self:begin()
  local id = self:request(string.format("input %s float %.17g %.17g %.17g", quote(name), default, least, most))
  local size = string.unpack and long or 8
  self:request(string.format("value %d %d 0", id, size))
  return to_double(self.device:read(size))
end

function machine:boolean(name, default)
  self:begin()
  local id = self:request(string.format("input %s bool %d", quote(name), default and 1 or 0))
  return self:number(id, 0, 1) ~= 0
end

function machine:choice(name, index, n)
  self:begin()
  local _, chosen = self:request(string.format("input %s choice %d %d", quote(name), index, n))
  return chosen
end

function machine:log(text)
  self:text("log", text)
end

function machine:prune()
  self:request("prune")
end

function machine:concretize(text)
  self:text("concretize", text)
  return self.device:read(#text)
end

function machine:outcome(kind, type_name, message)
  self:begin()
  self:text("outcome " .. kind .. " " .. quote(type_name), message)
  io.stdout:flush()
  io.stderr:flush()
  self:request("end")
end

function machine:usage(message)
  self:request("usage " .. quote(message))
end

-- The session of a native replay -----------------------------------------------------------------------------

local replay = {}

-- The value that JSON text holds. Integers keep every digit; characters beyond ASCII stay UTF-8.
local function from_json(text)
  local at = 1
  local value
  local function skip(pattern)
    local _, last = text:find("^" .. pattern, at)
    if last then
      at = last + 1
    end
    return last
  end
  local escapes = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }
  local function text_of()
    local out = {}
    while true do
      local plain = text:match('^[^"\\]*', at)
      out[#out + 1] = plain
      at = at + #plain
      local c = text:sub(at, at + 1)
      if c:sub(1, 1) == '"' then
        at = at + 1
        return table.concat(out)
      elseif c == "\\u" then -- below U+0080: every string input is ASCII
        out[#out + 1] = string.char(tonumber(text:sub(at + 2, at + 5), 16) % 256)
        at = at + 6
      else
        out[#out + 1] = escapes[c:sub(2)] or c:sub(2)
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
    local word = text:match("^[%w.+-]+", at)
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
    return "[" .. table.concat(out, ",") .. "]"
  end
  return '"' .. v:gsub('[%c"\\\127]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

function replay.open(path)
  local file = assert(io.open(path, "rb"))
  local case = from_json(file:read("*a"))
  file:close()
  return setmetatable({ inputs = case.inputs, at = 0, lines = {} }, { __index = replay })
end

function replay:begin() end

function replay:next(kind, name)
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
  local text = hex:gsub("%x%x", function(pair) return string.char(tonumber(pair, 16)) end)
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

local infinities = { ["+Inf"] = math.huge, ["-Inf"] = -math.huge }

function replay:float(name, default, least, most)
  local text = self:next("float", name).value
  local value = infinities[text] or tonumber(text:find("[.e]") and text or text .. ".0")
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

function replay:log(text)
  self.lines[#self.lines + 1] = text
end

function replay:prune()
  self:outcome("pruned", "", "")
end

function replay:concretize(text)
  return text
end

-- Writes the outcome and leaves at once, as the path does inside the machine.
function replay:outcome(kind, type_name, message)
  local path = os.getenv("SYMCHEF_OUTCOME")
  if path then
    local file = assert(io.open(path, "wb"))
    file:write(string.format('{"version":1,"kind":%s,"type":%s,"message":%s,"log":%s}\n',
      to_json(kind), to_json(type_name), to_json(message), to_json(self.lines)))
    file:close()
  end
  io.stdout:flush()
  io.stderr:flush()
  os.exit(kind == "usage" and 2 or 0)
end

function replay:usage(message)
  io.stderr:write("symchef: ", message, "\n")
  self:outcome("usage", "", message)
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
  default = default or string.rep(kind == "str" and "a" or "\0", most)
  if kind == "str" and default:find("[\128-\255]") then
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
    usage_error("input %s: needs whole numbers, least <= most", name)
  end
  local first = whole(default or (lo > 0 and lo or hi < 0 and hi or 0))
  if not first or first < lo or first > hi then
    usage_error("input %s: the default is not within the bounds", name)
  end
  return s:integer(name, first, lo, hi)
end

--- A symbolic number, a double, least <= value <= most; without bounds an infinity too, but never NaN. default is the first
--- value to try.
function symchef.number(name, least, most, default)
  local s = current(name)
  least, most = least or -math.huge, most or math.huge
  if type(least) ~= "number" or type(most) ~= "number" or not (least <= most) then
    usage_error("input %s: needs numbers, least <= most", name)
  end
  default = default or (least > 0 and least or most < 0 and most or 0)
  if type(default) ~= "number" or not (least <= default and default <= most) then
    usage_error("input %s: the default is not within the bounds", name)
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
  return options[s:choice(name, index, #options) + 1]
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
  current():log(table.concat(texts, " "))
end

--- The value, fixed to one on this path; the others are explored on others. Takes strings, numbers, booleans.
function symchef.concretize(value)
  local s, kind = current(), type(value)
  if kind == "boolean" then
    return value and true or false
  elseif kind == "string" then
    return value == "" and "" or s:concretize(value)
  elseif kind == "number" and string.pack then
    local format = math.type(value) == "integer" and "<i8" or "<d"
    return (string.unpack(format, s:concretize(string.pack(format, value) .. string.rep("\0", long))))
  elseif kind == "number" then
    return tonumber(s:concretize(string.format("%.17g", value)))
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

-- The runner -------------------------------------------------------------------------------------------------

-- What an error is called: error for a message, else the object's __name or its type.
local function type_name(e)
  local meta = type(e) == "table" and getmetatable(e)
  return type(e) == "string" and "error" or type(meta) == "table" and type(meta.__name) == "string" and meta.__name or type(e)
end

local function message_of(e)
  local meta = getmetatable(e)
  if type(e) == "string" or type(e) == "number" or type(meta) == "table" and meta.__tostring then
    local ok, text = pcall(tostring, e)
    return ok and type(text) == "string" and text or ""
  end
  return "(error object is a " .. type(e) .. " value)"
end

local function expected(e)
  for _, x in ipairs(session.expected) do
    if type(x) == "string" then
      if type(e) == "string" and e:find(x, 1, true) then
        return true
      end
    elseif rawequal(e, x) or type(e) == "table" and rawequal(getmetatable(e), x) then
      return true
    end
  end
  return false
end

local function is_test(v)
  return type(v) == "function" or type(v) == "table" and type(v.run) == "function"
end

-- The name and value of the one test to run, of those that a file returns or defines as globals test...
local function choose(result, globals, wanted)
  if is_test(result) then
    if wanted and wanted ~= "test" then
      usage_error("no test named %s: the file returns one test", wanted)
    end
    return "test", result
  end
  local tests, names = {}, {}
  for name, v in pairs(type(result) == "table" and result or globals) do
    if type(name) == "string" and is_test(v) and (result ~= nil or name:find("^test")) then
      tests[name] = v
      names[#names + 1] = name
    end
  end
  table.sort(names)
  local list = table.concat(names, ", ")
  if wanted then
    if not tests[wanted] then
      usage_error("no test named %s; tests here: %s", wanted, #names > 0 and list or "none")
    end
    return wanted, tests[wanted]
  elseif #names == 0 then
    usage_error("no test: return a function, or a table with run, or define a global function test...")
  elseif #names > 1 then
    usage_error("several tests in the file, choose one with ::NAME: %s", list)
  end
  return names[1], tests[names[1]]
end

-- Loads the test file; its folder comes first where require looks.
local function load_test(path, wanted)
  local folder = path:match("^(.*)/[^/]*$") or "."
  package.path = folder .. "/?.lua;" .. folder .. "/?/init.lua;" .. package.path
  local chunk, why = loadfile(path)
  if not chunk then
    usage_error("%s", why)
  end
  arg = { [0] = path }
  local before = {}
  for name in pairs(_G) do
    before[name] = true
  end
  local ok, result = pcall(chunk)
  if not ok then
    if getmetatable(result) == UsageError then
      error(result, 0)
    end
    usage_error("running it failed: %s", message_of(result))
  end
  local globals = {}
  for name, v in pairs(_G) do
    if not before[name] then
      globals[name] = v
    end
  end
  return choose(result, globals, wanted)
end

local function run(argument)
  local path, wanted = argument:match("^(.*)::(.-)$")
  path = path or argument
  local by_assert = false
  local ok, e = xpcall(function()
    local name, test = load_test(path, wanted)
    session.test = name
    if type(test) == "table" and test.setup then
      test:setup()
    end
    session.ready = true
    session:begin()
    if type(test) == "table" then
      test:run()
    else
      test()
    end
  end, function(e)
    local raiser = debug.getinfo(2, "f") -- what called error, where the error is
    by_assert = raiser ~= nil and raiser.func == assert
    return e
  end)
  if ok then
    session:outcome("ok", "", "")
  elseif type(e) == "table" and getmetatable(e) == UsageError or not session.ready then
    session:usage(path .. ": " .. message_of(e))
  end
  local kind = "exception"
  if expected(e) then
    kind = "expected"
  elseif by_assert then
    kind = "assertion"
  end
  session:outcome(kind, type_name(e), message_of(e))
end

local function main(argument)
  local path = os.getenv("SYMCHEF_REPLAY")
  if path then
    session = replay.open(path)
  else
    local device = io.open("/dev/symchef", "a+")
    if not device then
      io.stderr:write("symchef: not inside symchef and SYMCHEF_REPLAY is not set: nothing to run\n")
      os.exit(2)
    end
    device:setvbuf("full", 2 ^ 22)
    session = setmetatable({ device = device }, { __index = machine })
    session:request("hello 1")
  end
  session.expected = {}
  if not argument then
    session:usage("usage: lua symchef.lua TEST[::NAME]")
  end
  run(argument)
end

main(...)
