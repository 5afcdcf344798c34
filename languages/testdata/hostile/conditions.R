# Conditions, objects and methods that answer with code of their own.
conditionMessage.told <- function(c) paste("told", c$s)
conditionMessage.broken <- function(c) stop("in conditionMessage")
conditionMessage.odd <- function(c) 1:3
length.odd <- names.odd <- as.character.odd <- as.list.odd <- `[[.odd` <- `[.odd` <- `$.odd` <- print.odd <- format.odd <- unlist.odd <- function(...) stop("in a method")
rev.list <- seq.default <- c.list <- length.raw <- paste.default <- flush.connection <- close.connection <- function(...) stop("in a method")

condition <- function(class, ...) structure(class = c(class, "error", "condition"), list(message = "m", call = NULL, ...))
odd <- structure(list(a = 1L, "b"), class = "odd")

kinds <- list(
  function(s) stop(condition("told", s = s)),
  function(s) stop(condition("broken")),
  function(s) stop(condition("odd")),
  function(s) stop(structure(class = c("bare", "error", "condition"), list())),
  function(s) odd,
  function(s) list(odd, sum, quote(x), globalenv(), 1i, NA, NULL, c(a = 1.5, b = NA), factor("f"), as.raw(1:3), "\u00e9"),
  function(s) stopifnot("not so" = s == "zz"),
  function(s) warning("only a warning"),
  function(s) { options(warn = 2); as.integer("x") },
  function(s) { f <- function(n) f(n + 1); f(1) },
  function(s) { closeAllConnections(); con <- textConnection("text"); cat(as.integer(con), "\n"); readLines(con) },
  function(s) { options(error = quote(cat("handler\n")), digits = 3, scipen = -9, OutDec = ","); stop(1234.5678) },
  function(s) signalCondition(condition("told", s = s))
)

test_conditions <- function() {
  kind <- symchef$integer("kind", 1L, 13L)
  s <- symchef$string("s", 2L)
  kinds[[kind]](s)
}
