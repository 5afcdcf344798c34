# One test per part of the guest library; r_test.go says what each must give.

boom <- function(message) structure(class = c("boom", "error", "condition"), list(message = message, call = NULL))

limit <- 0L
setup <- function() limit <<- 7L

test_kinds <- function() {
  symchef$expect("bad luck", "boom")
  x <- symchef$integer("x", 0L, 8L)
  if (x == 0L) {
    stop("bad luck")
  } else if (x == 1L) {
    stopifnot("said" = FALSE)
  } else if (x == 2L) {
    stop(boom("loud"))
  } else if (x == 3L) {
    quit("no", 7L)
  } else if (x == 4L) {
    sqrt("a")
  } else if (x == 5L) {
    f <- function(y) y$z[[2]]
    f(list(z = 1))
  } else if (x == 6L) {
    tryCatch(stop("caught"), error = function(e) print(conditionMessage(e)))
    warning("no finding")
  } else if (x < limit) {
    cat("never\n")
  } else if (x == limit) {
    f <- function(n) f(n + 1)
    f(1)
  }
}

# Ten of the twelve combinations satisfy the assumption.
test_inputs <- function() {
  b <- symchef$logical("b")
  c <- symchef$choice("c", c("p", "q"))
  n <- symchef$concretize(symchef$integer("n", -1L, 1L))
  symchef$assume(b || c == "p" || n < 1L && n != 0L)
  symchef$log("values", b, c, n)
  print(list(b, c, n))
}

# Nine combinations of three classes each.
test_double <- function() {
  x <- symchef$double("x", -1000, 1000)
  y <- symchef$double("y")
  cat(if (x * 2 > 300.5) "big" else if (x == 0) "zero" else "other", if (y == Inf) "most" else if (y < -1e300) "low" else "middle", "\n")
}

test_number <- function() {
  n <- symchef$integer("n", 0L, 99999L)
  if (n > 99990L) {
    stop("too big: ", n)
  }
  if (n >= 1000L) {
    print(n)
  }
}

# Eight classes: no characters, one or two, a NUL before the last one; text or not.
test_text <- function() {
  text <- rawToChar(symchef$raw("r", 2L))
  cat(nchar(text, "bytes"), validUTF8(text), text == "\u00e9", paste0(text, "?") == "ab?", "\n")
}
