# Numbers: division and remainder of both signs, products, absolute values, fractions.
def test_numbers
  n, m = SymChef.integer("n", -8, 8), SymChef.integer("m", 1, 5)
  return "multiple" if n % m == 0 && n / m > 2
  return "low" if n * m < -20
  return "next" if n.abs - m == 1
  n / 2.0 > 1.25
end
