# Exceptions: raised, caught by class, raised again, a last word, and not caught.
class Small < StandardError; end

def inner(n)
  raise Small, "small" if n < 4
  raise ArgumentError, "five" if n == 5
  return nil.field if n > 17
  n > 9
end

def test_exceptions
  n, last = SymChef.integer("n", 0, 20), "not yet"
  begin
    got = inner(n)
  rescue Small => e
    raise e if n == 2
    got = e.message
  rescue ArgumentError
    got = 5
  ensure
    last = "last"
  end
  [got, last]
end
