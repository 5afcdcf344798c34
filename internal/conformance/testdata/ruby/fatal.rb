# An error that nobody catches, with its cause, and the status.
class Broken < StandardError; def message = "broken, in two\nlines"; end
def level(n) = n == 0 ? (begin; Integer("zz"); rescue => e; raise Broken; end) : level(n - 1)
puts "before"; at_exit { puts "handler"; exit 42 if false }
level(3)
