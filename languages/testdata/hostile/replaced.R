# Replaces every function of base: in the global environment, where the test's own code sees them, and some in base itself.
broken <- function(...) .Primitive("stop")("not the library's business")

test_all <- function() {
  s <- symchef$string("s", 3L)
  n <- symchef$integer("n", 0L, 9L)
  x <- symchef$double("x", 0, 1)
  ch <- symchef$choice("c", c("p", "q"))
  symchef$log("one", s)
  equal <- s == "abc"
  more <- n > 5L
  unlock <- unlockBinding
  put <- assign
  names <- ls(baseenv(), all.names = TRUE)
  keep <- c("{", "if", "<-", "function", "(", "$", "&&", "put", "for", ".Internal", "[[", "return", "==", ">")
  base <- baseenv()
  for (name in c("paste", "paste0", "sprintf", "vapply", "lapply", "is.null", "nzchar", "inherits", "readBin", "writeBin", "charToRaw",
                 "rawToChar", "sys.calls", "sys.function", "class", "identical", "unlist", "file", "quit", "stdout", "enc2utf8", "as.integer")) {
    unlock(name, base)
    put(name, broken, base)
  }
  global <- globalenv()
  for (name in names[!names %in% keep]) put(name, broken, global)
  symchef$log("two", s)
  if (equal) symchef$concretize(n)
  if (more) return(x)
  s
}
