# Small programs over symbolic strings and numbers. As a test, the first input chooses one; native.R runs each on
# every value of its inputs.

# A word of n letters, each one of the first three.
word <- function(name, n) {
  codes <- vapply(seq_len(n), function(i) symchef$integer(paste0(name, i), 0L, 2L), 0L)
  rawToChar(as.raw(97L + codes))
}

programs <- list(
  match = function() {
    s <- word("s", 2L)
    cat(match(s, c("ab", "cc", "ab")), s %in% c("ba", "x"), c(ab = 1, ca = 2)[s], "\n")
  },
  unique = function() {
    words <- c(word("s", 2L), word("t", 2L), "ab")
    cat(length(unique(words)), anyDuplicated(words), words[1L] == words[2L], "\n")
  },
  choose = function() {
    s <- symchef$string("s", 2L, 1L)
    symchef$assume(nchar(s) == 1L || substr(s, 1L, 1L) == "a")
    cat(switch(s, a = "first", b = , ab = "second", "other"), startsWith(s, "a"), "\n")
  },
  case = function() {
    s <- symchef$string("s", 1L)
    if (grepl("@", s, fixed = TRUE)) {
      stop("an at: ", s)
    }
    cat(toupper(s) == "A", s == "\n", utf8ToInt(s) > 100L, "\n")
  },
  bytes = function() {
    b <- symchef$raw("b", 1L)
    cat(b == as.raw(7L), as.integer(b) %/% 64L, rev(as.integer(rawToBits(b)))[1L], "\n")
  },
  split = function() {
    parts <- strsplit(paste0(word("s", 3L), "-", word("t", 1L)), "b", fixed = TRUE)[[1L]]
    cat(length(parts), nchar(parts), "\n")
  },
  divide = function() {
    a <- symchef$integer("a", -7L, 7L)
    b <- symchef$integer("b", -2L, 2L)
    if (b == 0L) {
      stop("division by zero")
    }
    cat(a %/% b == -2L, a %% b, a / b > 1.5, "\n")
  },
  overflow = function() {
    n <- symchef$integer("n", 2147483640L, 2147483647L)
    cat(is.na(suppressWarnings(n + 4L)), n + 4 > 2147483647, "\n")
  },
  digits = function() {
    n <- symchef$integer("n", 995L, 1005L)
    s <- as.character(n)
    if (nchar(s) > 3L) {
      stop("too long: ", n)
    }
    print(n - 990L)
  },
  sort = function() {
    cat(sort(c(symchef$integer("a", 0L, 2L), symchef$integer("b", 0L, 2L), symchef$integer("c", 0L, 2L))), "\n")
  },
  names = function() {
    scope <- list2env(list(ab = 1, bc = 2))
    s <- word("s", 2L)
    cat(exists(s, scope, inherits = FALSE), if (symchef$logical("f")) list(ab = 3)[[s]] else mget(s, scope, ifnotfound = 0)[[1L]], "\n")
  }
)
programs <- programs[grepl(Sys.getenv("COMPLETE_ONLY"), names(programs))]

run <- function() programs[[symchef$choice("program", names(programs))]]()
