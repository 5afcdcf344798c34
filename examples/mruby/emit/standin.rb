# What any value is the same as.
ANY = Object.new

# A stand-in for the library SymChef, so that this file needs nothing but the tested code: it hands out the inputs of one case.
module SymChef
  class << self
    attr_writer :inputs

    def string(name, *)
      @used[name] = (@used[name] || 0) + 1
      @inputs[@used[name] == 1 ? name : "#{name}##{@used[name]}"]
    end
    alias bytes string
    alias integer string
    alias float string
    alias boolean string

    def choice(name, options, *)
      chosen = string(name)
      chosen.is_a?(Proc) ? chosen.call(options) : chosen
    end

    def inputs=(inputs)
      @inputs, @used = inputs, {}
    end

    def assume(condition) = condition || raise("an assumption of the test does not hold for these inputs")
    def concretize(v) = v
    def expect(*); end
    def log(*); end
  end
end

# Whether a value is what is told: of the same class and equal.
def same(v, told)
  return true if told.equal?(ANY)
  return false if v.class != told.class
  case v
  when Array then v.size == told.size && (0...v.size).all? { |i| same(v[i], told[i]) }
  when Hash then v.size == told.size && v.to_a.zip(told.to_a).all? { |a, b| same(a, b) }
  when Float then v == told && 1 / v == 1 / told || v.nan? && told.nan?
  else v == told
  end
end

# Runs the test on one case, each time in a newly loaded file: what it returns, and the exception that it ends with.
def run(inputs)
  SymChef.inputs = inputs
  eval(IO.read(TEST_FILE), nil, TEST_FILE, 1)
  [Object.new.__send__(TEST_NAME), nil]
rescue Exception => e
  [nil, e]
end

# Results, as lines of the Test Anything Protocol.
$count = $failed = 0
def result(good, name, why = "")
  $count += 1
  $failed += 1 unless good
  puts "#{good ? "ok" : "not ok"} #{$count} - #{name}#{why}"
end

def check(name, inputs, raises, returns)
  value, e = run(inputs)
  if (e && e.class.to_s) != raises
    result(false, name, e ? ": #{e.inspect}" : ": did not raise #{raises}")
  else
    result(e || same(value, returns), name, e ? "" : ": returned #{value.inspect}")
  end
end

# A case that fails, with an exception of a class, until what it has found is repaired.
def finding(name, inputs, type, why)
  _, e = run(inputs)
  result(e && e.class.to_s == type, name, e ? " # known: #{why}" : ": no longer: #{why}")
end

def skip(name, why) = result(true, name, " # SKIP #{why}")
