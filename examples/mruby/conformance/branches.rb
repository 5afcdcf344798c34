# Branches: comparisons in chains, and, or, not, loops that a branch ends.
def test_branches
  n, b = SymChef.integer("n", 0, 20), SymChef.boolean("b")
  return "both" if b && n > 15 || !b && n == 3
  return "chain" if n.between?(6, 7)
  steps = 0
  while n > 1 && steps < 3
    n = n % 2 == 0 ? n / 2 : n - 1
    steps += 1
  end
  steps
end
