# What is left to be done at the end of the process; which, says the input.
left <- file.path(Sys.getenv("HOME"), "left")
at_exit <- function(f) reg.finalizer(globalenv(), f, onexit = TRUE)

test_end <- function() {
  n <- symchef$integer("n", 0L, 9L)
  if (n == 0L) {
    at_exit(function(e) cat("first\n"))
    at_exit(function(e) { cat("last\n"); stop("in a finalizer") })
  } else if (n == 1L) {
    at_exit(function(e) quit("no", 3L, FALSE))
  } else if (n == 2L) {
    .Last <<- function() cat("last\n")
  } else if (n == 3L) {
    .Last <<- function() stop("in .Last")
  } else if (n == 4L) {
    kept <<- file(left, "w")
    cat("left", file = kept)
  } else if (n == 5L) {
    .Last <<- function() quit("no", 4L, FALSE)
    stop("in the test")
  } else if (n == 6L) {
    .Last <<- function() warning("a warning")
  } else if (n == 7L) {
    pictex(left)
    plot.new()
  } else if (n == 8L) {
    kept <<- file(left, "w")
    at_exit(function(e) cat("late", file = kept))
  }
  "same"
}
