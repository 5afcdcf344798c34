# jsonlite: lines of JSON through connections.
library(jsonlite)
d <- data.frame(id = 1:25, name = paste0("row", 1:25), half = (1:25) / 2)
file <- "rows.json"
stream_out(d, file(file), verbose = FALSE)
print(length(readLines(file)))
cat(readLines(file, 3), sep = "\n")
e <- stream_in(file(file), pagesize = 10, verbose = FALSE)
print(identical(dim(d), dim(e)))
print(sum(e$half))
total <- 0
stream_in(file(file), handler = function(page) total <<- total + nrow(page), pagesize = 7, verbose = FALSE)
print(total)
con <- textConnection(c('{"a":1}', '{"a":2,"b":[1,2]}', '{"b":[]}'))
str(stream_in(con, verbose = FALSE))
