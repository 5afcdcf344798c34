# Numbers: division and remainder of both signs, products, absolute values, fractions.
test_numbers <- function() {
  n <- symchef$integer("n", -8L, 8L)
  m <- symchef$integer("m", 1L, 5L)
  if (n %% m == 0L && n %/% m > 2L) {
    return("multiple")
  }
  if (n * m < -20L) {
    return("low")
  }
  if (abs(n) - m == 1L) {
    return("next")
  }
  n / 2 > 1.25
}
