# Symbolic tests for mruby, docs/your-own-language.md:
#
#     def test_email
#       email = SymChef.string("email", 10)
#       raise "no @ after three characters" if (email.index("@") || 0) < 3
#     end
#
# This file is the library, and the program that runs a test: mruby symchef.rb /abs/test.rb[::NAME].

module SymChef
  # A mistake of the test. No StandardError: a rescue in the test does not take it.
  class UsageError < Exception; end

  # Inside the machine its device answers requests (docs/device-protocol.md).
  class Machine
    def quote(text)
      text.empty? ? "%" : text.bytes.map { |c| c > 32 && c < 127 && c != 37 ? c.chr : "%%%02X" % c }.join
    end

    # One round trip: the line, and the body behind it, are one write. What it gives are the bytes that were asked for, or the numbers of the reply.
    def ask(fields, body = nil)
      unless @device
        @device = File.open("/dev/symchef", "r+")
        ask(["hello", 1])
      end
      fields += ["-", body.bytesize] if body
      @device.syswrite(fields.map { |f| quote(f.to_s) }.join(" ") + "\n" + (body || ""))
      reply = @device.sysread(1 << 21)
      raise UsageError, reply.byteslice(4, reply.bytesize - 5) if reply.start_with?("err")
      return reply.byteslice(3, reply.bytesize) if fields[0] == "value" || fields[0] == "concretize"
      reply.split(" ").map { |f| f.to_i }
    end

    def input(fields)
      _, id, n = ask(fields)
      return n if fields[2] == "choice"
      n == 0 ? "" : ask(["value", id, n || 8, 0])
    end
  end

  # In native replay the same requests are answered from the file of a test case.
  class Replay
    def initialize(path, out)
      @path, @out, @more = path, out, {"log" => []}
    end

    def input(fields)
      it = @inputs.shift
      raise UsageError, "replay: no #{fields[2]} #{fields[1]}" if !it || it[:name] != fields[1] || it[:type] != fields[2]
      case fields[2]
      when "choice" then it[:value]
      when "int" then [it[:value]].pack("q<")
      when "bool" then [it[:value] ? 1 : 0].pack("q<")
      else [it[:bytes_hex] || ""].pack("H*")
      end
    end

    def json(v)
      return "[#{v.map { |x| json(x) }.join(",")}]" if v.is_a?(Array)
      '"' + v.bytes.map { |c| c < 32 || c == 34 || c == 92 ? "\\u%04x" % c : c.chr }.join + '"'
    end

    def ask(fields, body = nil)
      case fields[0]
      when "begin" then @inputs = eval(IO.read(@path).gsub("#", "\\u0023"))[:inputs] # JSON is Ruby where no # is in a text
      when "log" then @more["log"] << body
      when "returned" then @more["returned_hex"] = body.unpack("H*")[0]
      when "frames" then @more["frames"] = fields[2, fields.size]
      when "outcome"
        @more.merge!("kind" => fields[1], "type" => fields[2], "message" => body)
        File.open(@out, "w") { |f| f.write("{\"version\":1#{@more.map { |k, v| ",#{json(k)}:#{json(v)}" }.join}}\n") } if @out
      when "prune" then ask(["outcome", "pruned", ""], "")
      when "usage" then ask(["outcome", "usage", ""], fields[1])
      when "tests" then ask(["usage", "several tests, choose one with ::NAME: " + fields[2, fields.size].join(", ")])
      end
      raise UsageError, fields.join(" ") if fields[0] == "prune" || fields[0] == "usage"
      body
    end
  end

  class << self
    # An ASCII string of size characters, or of least to size. In place of the size, the first value to try.
    def string(name, size, least = nil) = sequence(name, "str", size.is_a?(String) ? size : "a" * size, least, 1)

    # The same with any bytes.
    def bytes(name, size, least = nil) = sequence(name, "bytes", size.is_a?(String) ? size : "\0" * size, least)

    def sequence(name, type, default, least, *rest) = input(name, type, default, least || default.bytesize, default.bytesize, *rest)

    # A number, least <= value <= most.
    def integer(name, least = -2**62, most = 2**62 - 1, default = nil)
      input(name, "int", default || [[0, least].max, most].min, least, most).unpack("q<")[0]
    end

    def float(name, least, most, default = nil)
      input(name, "float", *[default || [[0.0, least].max, most].min, least, most].map { |x| "%.17g" % x }).unpack("E")[0]
    end

    def boolean(name, default = false) = input(name, "bool", default ? 1 : 0).unpack("q<")[0] == 1

    # One of a list; the path forks once per option.
    def choice(name, options, default = options[0]) = options[input(name, "choice", options.index(default), options.size)]

    # Goes on only where the condition holds.
    def assume(condition) = condition || @session.ask(["prune"])

    # Classes of exceptions, and parts of messages, that are no findings.
    def expect(*what) = @expected += what

    # A line in the test case.
    def log(*values) = @session.ask(["log"], values.join(" "))

    # The value, fixed to one on this path.
    def concretize(v)
      case v
      when String then v.empty? ? v : @session.ask(["concretize"], v)
      when Integer then @session.ask(["concretize"], [v].pack("q<")).unpack("q<")[0]
      when Float then @session.ask(["concretize"], [v].pack("E")).unpack("E")[0]
      else v ? true : false
      end
    end

    def input(name, *fields)
      raise UsageError, "inputs exist only inside a test run by symchef" unless @began
      @session.input(["input", name] + fields)
    end

    # A value as tokens.
    def encode(v, depth)
      case v
      when nil then "n0:"
      when true then "T0:"
      when false then "F0:"
      when String then "s#{v.bytesize}:#{v}"
      when Integer then "i8:" + [v].pack("q<")
      when Float then "f8:" + [v].pack("E")
      when Array, Hash
        return "z0:" if depth == 8
        parts = (v.is_a?(Array) ? v : v.to_a.flatten(1)).map { |x| encode(x, depth + 1) }
        "#{v.is_a?(Array) ? "l" : "{"}#{v.size}:#{parts.join}"
      else (v.is_a?(Symbol) ? v.inspect : v.class.to_s).then { |name| "o#{name.bytesize}:#{name}" }
      end
    end

    # What is to be loaded; the test's file is evaluated outside of this module.
    def prepare(argument)
      @path, @test = argument.split("::")
      env = IO.read("/proc/self/environ").split("\0").map { |v| v.split("=", 2) }.to_h # mruby has no ENV
      native = File.exist?("/symchef/replay/native") && "/symchef/replay/"
      input = native ? native + "inputs.json" : env["SYMCHEF_REPLAY"]
      @session = input ? Replay.new(input, native ? native + "outcome.json" : env["SYMCHEF_OUTCOME"]) : Machine.new
      @expected, @before = [], Object.instance_methods(false)
      @path
    end

    def run
      names = (Object.instance_methods(false) - @before).map { |m| m.to_s }.select { |m| m.start_with?("test") }.sort
      @session.ask(["tests", names.size] + names) if @test == "*" || !@test && names.size > 1
      raise UsageError, names.empty? ? "no test: define a method test..." : "no test named #{@test}; tests here: #{names.join(", ")}" unless names.include?(@test ||= names[0])
      @session.ask(["begin", @test])
      @began = true
      begin
        value = Object.new.__send__(@test)
      rescue UsageError => e
        raise e
      rescue Exception => e
        places = (e.backtrace || []).reject { |p| p.start_with?(__FILE__) }.reverse.map { |p| p.sub(":in ", ":") }
        @session.ask(["frames", places.size] + places)
        known = @expected.any? { |x| x.is_a?(String) ? e.message.include?(x) : e.is_a?(x) }
        return @session.ask(["outcome", known ? "expected" : "exception", e.class.to_s], e.message)
      end
      value = encode(value, 0)
      @session.ask(["returned"], value.bytesize > 4096 ? "z0:" : value)
      @session.ask(["outcome", "ok", ""], "")
    end

    def usage(e) = @session.ask(["usage", "#{@path}: #{e.message}"])
  end
end

begin
  eval(IO.read(SymChef.prepare(ARGV[0])), nil, ARGV[0].split("::")[0], 1)
  SymChef.run
rescue Exception => e
  SymChef.usage(e)
end
