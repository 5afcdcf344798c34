# Functions of the test's own under names of base, used before and after they are defined.
test_masked <- function() {
  s <- symchef$string("s", 2L)
  n <- length(c(1, 2, 3))
  if (s == "no") stop("no ", n)
  if (n != 7L) stop("not mine: ", n)
  list(s, n, paste0("a", "b"), any(TRUE))
}
any <- function(...) FALSE
c <- function(...) NULL
length <- function(x) 7L
paste0 <- function(...) "mine"
sprintf <- vapply <- is.null <- nzchar <- identity <- inherits <- tryCatch <- function(...) base::stop("broken")
