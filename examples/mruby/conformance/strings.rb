# Strings: length, characters, search, comparison, keys of a hash, joined.
def test_strings
  s = SymChef.string("s", 3, 0)
  s.each_char { |c| SymChef.assume(c == "a" || c == "b" || c == "-") }
  return "none" if s.empty?
  return "key" if {"a" => 1, "ab" => 2, "b-a" => 3}[s]
  at = s.index("-")
  return at if at
  "#{s < "b"} #{s.start_with?("aa")} #{s.size}"
end
