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
    choice = function(name, options) return options[value(name) + 1] end,
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

-- Runs the test on one case, each time in a newly loaded file.
local function run(inputs)
  local path, loaded = package.path, package.loaded.symchef
  local folder = test_file:match("^(.*)/") or "."
  package.path = folder .. "/?.lua;" .. folder .. "/?/init.lua;" .. path
  package.loaded.symchef = stand_in(inputs)
  local result, test
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
      test:run()
    else
      test()
    end
  end)
  package.path, package.loaded.symchef = path, loaded
  return ok, e
end

local function type_name(e)
  local meta = type(e) == "table" and getmetatable(e)
  return type(e) == "string" and "error" or type(meta) == "table" and type(meta.__name) == "string" and meta.__name or type(e)
end

-- raises is nil or the type of the error that is expected.
function check(inputs, raises)
  local ok, e = run(inputs)
  if ok and raises then
    error("did not raise " .. raises, 0)
  elseif not ok and type_name(e) ~= raises then
    error(e, 0)
  end
end

-- A case that fails until what it has found is repaired; from then on it must be a plain case.
function finding(inputs, reason)
  if run(inputs) then
    error("no longer: " .. reason, 0)
  end
  pending(reason)
end
