# Calls: recursion, closures, arguments by name and by default, calls by a list.
depth <- function(n) {
  if (n < 1L) 0L else 1L + depth(n - 7L)
}

adder <- function(k) function(x, more = 0L) x + k + more

test_calls <- function() {
  n <- symchef$integer("n", 0L, 20L)
  by <- list(depth, adder(2L), function(x) {
    i <- 0L
    while (i * i < x) i <- i + 1L
    i
  })
  if (n < 10L) {
    by[[1L]](n)
  } else if (n < 12L) {
    by[[2L]](more = 1L, 5L)
  } else {
    by[[3L]](n)
  }
}
