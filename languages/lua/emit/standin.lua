-- The value that any value is the same as.
any = {}

-- Values that a test returns, with their number: nothing is nil.
function returned(...)
  return { n = math.max(select("#", ...), 1), ... }
end

-- Whether a value is what is told: equal, of the same type, a table with the same in it, looked at raw.
local function same(v, told)
  if told == any then
    return true
  elseif type(v) ~= type(told) then
    return false
  elseif type(v) == "number" then
    local kind = math.type or type
    return kind(v) == kind(told) and (v == told and (v ~= 0 or 1 / v == 1 / told) or v ~= v and told ~= told)
  elseif type(v) ~= "table" then
    return v == told
  end
  for key in next, v do
    if rawget(told, key) == nil then
      return false
    end
  end
  for key, value in next, told do
    if not same(rawget(v, key), value) then
      return false
    end
  end
  return true
end

-- The values of a case in words.
local function words(v, depth)
  depth = depth or 0
  if type(v) ~= "table" or depth > 4 then
    return type(v) == "string" and string.format("%q", v) or tostring(v)
  end
  local out = {}
  for key, value in next, v do
    out[#out + 1] = tostring(key) .. " = " .. words(value, depth + 1)
  end
  table.sort(out)
  return "{ " .. table.concat(out, ", ") .. " }"
end

-- The rest is a stand-in for the library "symchef", so that this file needs nothing but the tested code: it hands out
-- the inputs of one case.
local function stand_in(inputs)
  local used = {}
  local function value(name)
    used[name] = (used[name] or 0) + 1
    return inputs[used[name] == 1 and name or name .. "#" .. used[name]]
  end
  return {
    string = value, bytes = value, integer = value, number = value, boolean = value,
    choice = function(name, options)
      local chosen = value(name)
      if type(chosen) == "function" then
        return chosen(options)
      end
      for _, option in ipairs(options) do
        if same(option, chosen) then
          return option
        end
      end
      error("no option is " .. words(chosen), 0)
    end,
    assume = function(condition)
      if not condition then
        error("an assumption of the test does not hold for these inputs", 0)
      end
    end,
    concretize = function(v) return v end,
    expect = function() end,
    log = function() end,
  }
end

-- Runs the test on one case, each time in a newly loaded file: whether it ended well, and what it returned or the error.
local function run(inputs)
  local path, loaded = package.path, package.loaded.symchef
  local folder = test_file:match("^(.*)/") or "."
  package.path = folder .. "/?.lua;" .. folder .. "/?/init.lua;" .. path
  package.loaded.symchef = stand_in(inputs)
  local result, test, values
  local ok, e = pcall(function()
    result = dofile(test_file)
    test = result
    if type(test) == "table" and type(test.run) ~= "function" then
      test = test[test_name]
    elseif test == nil then
      test = _G[test_name]
    end
    if type(test) == "table" then
      if test.setup then
        test:setup()
      end
      values = returned(test:run())
    else
      values = returned(test())
    end
  end)
  package.path, package.loaded.symchef = path, loaded
  return ok, ok and values or e
end

local function type_name(e)
  local meta = type(e) == "table" and getmetatable(e)
  return type(e) == "string" and "error" or type(meta) == "table" and type(meta.__name) == "string" and meta.__name or type(e)
end

-- raises is nil or the type of the error that is expected, returns nil or what is returned.
function check(inputs, raises, returns)
  local ok, e = run(inputs)
  if ok and raises then
    error("did not raise " .. raises, 0)
  elseif not ok and type_name(e) ~= raises then
    error(e, 0)
  elseif ok and returns and not same(e, returns) then
    error("returned " .. words(e) .. ", not " .. words(returns), 0)
  end
end

-- A case that fails, with an error of a type, until what it has found is repaired; from then on it must be a plain case.
function finding(inputs, raises, reason)
  local ok, e = run(inputs)
  if ok then
    error("no longer: " .. reason, 0)
  elseif type_name(e) ~= raises then
    error(e, 0)
  end
  pending(reason)
end
