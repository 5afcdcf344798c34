# raise, rescue, ensure, retry, throw; an uncaught one at the end.
class AppError < StandardError; attr_reader :code; def initialize(m = "default", code: 1) = (super(m); @code = code); end
def f(n) = case n when 0 then raise "runtime" when 1 then raise AppError when 2 then raise AppError.new("custom", code: 7) when 3 then nil.upcase when 4 then [].fetch(9) when 5 then Integer("x") when 6 then undefined_thing when 7 then {}.fetch(:k) when 8 then raise TypeError, "typed", [] when 9 then "a" + 1 when 10 then Object.new.instance_eval { foo(1) } when 11 then throw :nobody when 12 then def g(a, b:) = a; g(1) when 13 then "x".frozen_method when 14 then [1, 2].first("x") when 15 then loop { raise StopIteration } && "stopped" when 16 then :sym.unknown when 17 then File.open("/no/such") when 18 then Float("1.x") when 19 then "abc".freeze << "d" end
20.times { |i| begin; r = f(i); puts "#{i} #{r}"; rescue AppError => e; puts "#{i} app #{e.message} #{e.code}"; rescue NoMethodError, NameError => e; puts "#{i} #{e.class} #{e.message.sub(/0x\h+/, "0x")} #{e.name}"; rescue => e; puts "#{i} #{e.class}: #{e.message}"; ensure print "" end }
n = 0; begin; n += 1; raise "again" if n < 3; puts "after #{n}"; rescue; retry; else puts "else"; ensure puts "ensure"; end
begin; begin; raise "inner"; rescue => e; raise ArgumentError, "outer"; end; rescue => e; p e, e.cause, e.backtrace.size, e.full_message(highlight: false).lines.size, e.backtrace_locations[0].lineno; end
p catch(:done) { 10.times { |i| throw :done, i if i == 4 }; :never }, (raise "x" rescue "inline"), [1, 2].each { |x| break x * 10 }, (begin; exit(3); rescue SystemExit => e; e.status; end), (begin; eval("1 +* "); rescue SyntaxError => e; e.class; end)
def deep(n) = n.zero? ? raise(Exception, "bottom") : deep(n - 1) + 1
begin; deep(30); rescue Exception => e; puts e.backtrace.size > 30; end
def rec(n) = rec(n + 1)
begin; rec(0); rescue SystemStackError => e; puts e.message; end
warn "a warning"; at_exit { puts "at exit #{$!.class}" }; begin; raise "first"; ensure puts "cleanup"; end
