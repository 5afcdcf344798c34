# Strings: length, characters, search, comparison, names of a list.
test_strings <- function() {
  s <- symchef$string("s", 3L, 0L)
  for (i in seq_len(nchar(s))) {
    c <- substr(s, i, i)
    symchef$assume(c == "a" || c == "b" || c == "-")
  }
  if (s == "") {
    return("none")
  }
  if (s == "a" || s == "b-a") {
    return("key")
  }
  if (regexpr("-", s, fixed = TRUE) > 0L) {
    return("dash")
  }
  nchar(s)
}
