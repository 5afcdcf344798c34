# Calls: recursion, blocks, arguments by name and by default, iterators, methods by their name.
def depth(n) = n < 1 ? 0 : 1 + depth(n - 7)

def adder(k) = ->(x, more = 0) { x + k + more }

def upto(n)
  i = 0
  while i * i < n
    yield i
    i += 1
  end
end

def test_calls
  n = SymChef.integer("n", 0, 20)
  return __send__(:depth, n) if n < 10
  return adder(2).call(5, 1) if n < 12
  count = 0
  upto(n) { |i| count += i > 2 ? 1 : 0 }
  count
end
