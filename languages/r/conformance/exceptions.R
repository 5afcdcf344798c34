# Conditions: signalled, caught by class, signalled again, with a last word, and not caught.
inner <- function(n) {
  if (n < 4L) {
    stop("small")
  }
  if (n == 5L) {
    warning("five")
  }
  if (n > 17L) {
    return(list()[[1L]])
  }
  n > 9L
}

test_exceptions <- function() {
  n <- symchef$integer("n", 0L, 20L)
  last <- "not yet"
  got <- tryCatch(inner(n), warning = function(w) conditionMessage(w), simpleError = function(e) {
    if (n == 2L) {
      stop(e)
    }
    "small"
  }, finally = last <- "last")
  list(got, last)
}
