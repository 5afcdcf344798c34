# Options that the library's code would depend on, and everything taken from the frames of the functions that have called the test.
kinds <- list(
  function(s) options(expressions = 60),
  function(s) options(error = quote(cat("hook\n")), warn = 2, expressions = 30, digits = 1, scipen = 100, OutDec = ",", encoding = 1L),
  function(s) {
    options(check.bounds = TRUE, warn = 2, expressions = 40)
    symchef$log(s)
  },
  function(s) {
    options(expressions = 40)
    stop("limited")
  },
  function(s) for (i in seq_len(sys.nframe())) {
    frame <- sys.frame(i)
    if (!identical(frame, environment())) rm(list = ls(frame, all.names = TRUE), envir = frame)
  },
  function(s) {
    for (frame in sys.frames()) if (!identical(frame, environment())) for (name in ls(frame, all.names = TRUE)) assign(name, NULL, frame)
    stop("after that")
  },
  function(s) {
    rm(list = ls(symchef), envir = symchef)
    Sys.setlocale("LC_ALL", "C")
    stop("\u00e9")
  }
)

test_own <- function() {
  kind <- symchef$integer("kind", 1L, 7L)
  s <- symchef$string("s", 2L)
  kinds[[kind]](s)
  3.25
}
