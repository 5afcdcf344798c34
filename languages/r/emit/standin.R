# What any value is the same as, and an object: its class and what it is made of.
any_value <- structure(list(), class = "any_value")
object <- function(class, content) structure(list(class, content), class = "told_object")

# Whether a value is what is told. A vector of several elements is told as a list of them or a vector, logical ones as integers.
same <- function(value, told) {
  if (inherits(told, "any_value")) {
    return(TRUE)
  }
  class <- if (!is.null(value) && !is.symbol(value)) attr(value, "class")
  if (inherits(told, "told_object")) {
    content <- .subset2(told, 2L)
    return(is.character(class) && class[1L] == .subset2(told, 1L) && (inherits(content, "any_value") || same(unclass(value), content)))
  }
  if (is.character(class) || !typeof(value) %in% c("NULL", "raw", "logical", "integer", "double", "character", "list")) {
    return(FALSE)
  }
  names_of <- function(x) if (is.null(names(x))) character(length(x)) else names(x)
  leaf <- function(x) is.null(x) || is.raw(x) || length(x) == 1L && !is.list(x) && is.null(names(x))
  if (leaf(told)) {
    if (length(value) != length(told) || !leaf(value)) {
      return(FALSE)
    } else if (is.logical(told) && is.na(told)) {
      return(is.na(value) && typeof(value) %in% c("logical", "character"))
    }
    return(identical(as.vector(value), told, num.eq = FALSE))
  }
  if (is.null(value) || is.raw(value) || length(value) != length(told) || !identical(names_of(value), names_of(told))) {
    return(FALSE)
  }
  if (is.logical(value) && length(value) != 1L) {
    storage.mode(value) <- "integer"
  }
  all(vapply(seq_along(told), function(i) same(.subset2(value, i), .subset2(told, i)), NA))
}

# A stand-in for the library symchef, so that this file needs nothing but the tested code: it hands out the inputs of one case.
stand_in <- function(inputs) {
  used <- character()
  value <- function(name, ...) {
    used <<- c(used, name)
    n <- sum(used == name)
    inputs[[if (n == 1L) name else paste0(name, "#", n)]]
  }
  list(
    string = value, raw = value, integer = value, double = value, logical = value,
    choice = function(name, options, ...) {
      chosen <- value(name)
      if (is.function(chosen)) {
        return(chosen(options))
      }
      for (i in seq_along(options)) {
        if (same(options[[i]], chosen)) {
          return(options[[i]])
        }
      }
      stop("no option is ", deparse(chosen))
    },
    assume = function(condition) {
      if (!isTRUE(condition)) {
        stop("an assumption of the test does not hold for these inputs")
      }
    },
    concretize = identity,
    expect = function(...) NULL,
    log = function(...) NULL
  )
}

# What the test returns on one case, each time in a newly loaded file: list(value = ...), or the error that it ends with.
run_case <- function(inputs) {
  scope <- new.env(parent = list2env(list(symchef = stand_in(inputs)), parent = globalenv()))
  scope$.packageName <- ".GlobalEnv" # S4 classes of the file are looked for by it
  tryCatch({
    sys.source(test_source, scope, chdir = TRUE)
    if (is.function(scope$setup)) {
      scope$setup()
    }
    list(value = scope[[test_name]]())
  }, error = identity)
}

# raises is NULL or the class of the error that is expected, returns what is returned; without it that is not told.
check <- function(inputs, raises, returns = any_value) {
  e <- run_case(inputs)
  failed <- inherits(e, "error")
  if (!failed && !is.null(raises)) {
    fail(paste("did not raise", raises))
  } else if (failed && !identical(class(e)[1L], raises)) {
    stop(e)
  } else if (!failed && !same(e$value, returns)) {
    fail(paste0("returned ", paste(deparse(e$value), collapse = "\n"), ", not ", paste(deparse(returns), collapse = "\n")))
  } else {
    succeed()
  }
}

# A case that fails, with an error of a class, until what it has found is repaired; from then on it must be a plain case.
finding <- function(inputs, raises, reason) {
  e <- run_case(inputs)
  if (!inherits(e, "error")) {
    fail(paste("no longer:", reason))
  } else if (!identical(class(e)[1L], raises)) {
    stop(e)
  } else {
    skip(reason)
  }
}
