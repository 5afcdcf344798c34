# Runs every program on every value of its inputs and prints one JSON object per run.
# Rscript native.R PROGRAMS, the file's path.

digits <- list() # a counter whose digits are the inputs: value, number of values
at <- 0L
inputs <- list()

digit <- function(n) {
  at <<- at + 1L
  if (at > length(digits)) {
    digits[[at]] <<- c(0L, n)
  }
  digits[[at]][1L]
}

# Moves on to the next combination; FALSE after the last.
step <- function() {
  while ((n <- length(digits)) > 0L) {
    digits[[n]][1L] <<- digits[[n]][1L] + 1L
    if (digits[[n]][1L] < digits[[n]][2L]) {
      return(TRUE)
    }
    digits[[n]] <<- NULL
  }
  FALSE
}

sequence <- function(first, n) {
  function(name, most, least = most) {
    size <- least + digit(most - least + 1L)
    if (least < most) {
      inputs[[paste0(name, ".len")]] <<- size
    }
    as.raw(vapply(seq_len(size), function(i) inputs[[paste0(name, "[", i - 1L, "]")]] <<- first + digit(n), 0L))
  }
}

symchef <- list(
  string = function(...) rawToChar(sequence(1L, 127L)(...)),
  raw = sequence(0L, 256L),
  integer = function(name, least, most) inputs[[name]] <<- least + digit(as.integer(as.double(most) - least + 1)),
  logical = function(name) (inputs[[name]] <<- digit(2L)) == 1L,
  assume = function(condition) {
    if (!condition) {
      stop(structure(class = c("pruned", "error", "condition"), list(message = "", call = NULL)))
    }
  }
)

string <- function(text) {
  code <- as.integer(charToRaw(text))
  out <- sprintf("\\u%04x", code)
  plain <- code >= 32L & code != 34L & code != 92L & code < 127L
  out[plain] <- rawToChar(as.raw(code[plain]), multiple = TRUE)
  paste0('"', paste(out, collapse = ""), '"')
}

object <- function(values) paste0("{", paste0(vapply(names(values), string, ""), ":", values, collapse = ","), "}")

file <- commandArgs(TRUE)
sys.source(file, globalenv(), keep.source = TRUE)
for (name in names(programs)) {
  repeat {
    at <- 0L
    inputs <- list()
    output <- capture.output(e <- tryCatch({
      programs[[name]]()
      NULL
    }, error = identity))
    outcome <- if (is.null(e)) {
      list(kind = string("ok"))
    } else if (inherits(e, "pruned")) {
      list(kind = string("pruned"))
    } else {
      list(kind = string("exception"), type = string(class(e)[1L]), message = string(conditionMessage(e)))
    }
    bytes <- charToRaw(paste0(output, "\n", collapse = ""))
    if (length(output) == 0L) {
      bytes <- raw()
    }
    writeLines(object(list(Program = string(name), Inputs = object(inputs), Output = string(paste(bytes, collapse = "")), Outcome = object(outcome))))
    if (!step()) {
      break
    }
  }
}
