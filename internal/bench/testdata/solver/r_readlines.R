# A program that knows nothing of SymChef: six bytes of standard input.
line <- readLines(file("stdin"), n = 1, warn = FALSE)
cat(toupper(trimws(line)), nchar(line), "\n")
