-- Runs every program on every value of its inputs and prints one JSON object per run.
-- lua native.lua PROGRAMS, the file's absolute path.

local print = print
local digits, at, inputs -- a counter whose digits are the inputs: { value, number of values }
local pruned = {}
local output

local function digit(n)
  at = at + 1
  digits[at] = digits[at] or { 0, n }
  return digits[at][1]
end

-- Moves on to the next combination; false after the last.
local function step()
  while #digits > 0 do
    local d = digits[#digits]
    d[1] = d[1] + 1
    if d[1] < d[2] then
      return true
    end
    digits[#digits] = nil
  end
  return false
end

local function sequence(n)
  return function(name, most, least)
    least = least or most
    local size = least + digit(most - least + 1)
    if least < most then
      inputs[name .. ".len"] = size
    end
    local bytes = {}
    for i = 1, size do
      local v = digit(n)
      inputs[name .. "[" .. i - 1 .. "]"] = v
      bytes[i] = string.char(v)
    end
    return table.concat(bytes)
  end
end

package.loaded.symchef = {
  string = sequence(128),
  bytes = sequence(256),
  integer = function(name, least, most)
    inputs[name] = least + digit(most - least + 1)
    return inputs[name]
  end,
  boolean = function(name)
    inputs[name] = digit(2)
    return inputs[name] == 1
  end,
  assume = function(condition)
    if not condition then
      error(pruned, 0)
    end
  end,
}

function _G.print(...)
  local texts = { ... }
  for i = 1, select("#", ...) do
    texts[i] = tostring(texts[i])
  end
  output[#output + 1] = table.concat(texts, "\t") .. "\n"
end

local function json(v)
  if type(v) == "table" then
    local out = {}
    for k, x in pairs(v) do
      out[#out + 1] = json(k) .. ":" .. json(x)
    end
    return "{" .. table.concat(out, ",") .. "}"
  elseif type(v) == "number" then
    return string.format("%d", v)
  end
  return '"' .. v:gsub('[%c"\\\127-\255]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

local test = dofile((...))
for _, name in ipairs(test.names) do
  digits = {}
  repeat
    at, inputs, output = 0, {}, {}
    local ok, e = pcall(test.programs[name])
    local outcome = { kind = "ok" }
    if e == pruned then
      outcome = { kind = "pruned" }
    elseif not ok then
      outcome = { kind = "exception", type = type(e) == "string" and "error" or type(e),
        message = type(e) == "string" and e or "(error object is a " .. type(e) .. " value)" }
    end
    local hex = table.concat(output):gsub(".", function(c) return string.format("%02x", c:byte()) end)
    print(json({ Program = name, Inputs = inputs, Output = hex, Outcome = outcome }))
  until not step()
end
