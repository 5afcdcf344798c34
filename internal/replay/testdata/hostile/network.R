# speaks to the services of the host, and takes memory
s <- try(suppressWarnings(socketConnection("127.0.0.1", as.integer(Sys.getenv("PORT")), timeout = 1)), silent = TRUE)
if (!inherits(s, "try-error")) cat("ESCAPED tcp\n")
x <- try(lapply(1:100, function(i) numeric(4e6) + i), silent = TRUE)
