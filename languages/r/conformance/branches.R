# Branches: comparisons in chains, and, or, not, loops that a branch ends.
test_branches <- function() {
  n <- symchef$integer("n", 0L, 20L)
  b <- symchef$logical("b")
  if (b && n > 15L || !b && n == 3L) {
    return("both")
  }
  if (5L < n && n <= 7L) {
    return("chain")
  }
  steps <- 0L
  while (n > 1L && steps < 3L) {
    n <- if (n %% 2L == 0L) n %/% 2L else n - 1L
    steps <- steps + 1L
  }
  steps
}
