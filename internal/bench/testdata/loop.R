s <- 0
for (i in 1:600000) s <- s + i %% 7 * 0.5
collatz <- function(n) { k <- 0; while (n != 1) { n <- if (n %% 2 == 0) n / 2 else 3 * n + 1; k <- k + 1 }; k }
print(s)
print(max(vapply(1:800, collatz, 0)))
