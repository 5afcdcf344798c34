# Warnings at the end, an error that stops the script.
f <- function(x) { warning("careful"); g(x) }
g <- function(x) { as.integer("zz"); if (x > 1) stop("too big: ", x); x }
cat("before\n"); print(f(1)); message("a message"); x <- 1:3 + 1:2
f(5)
cat("not reached\n")
