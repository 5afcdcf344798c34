# What any value is the same as, and what is told with a class, a word for what it is, or attributes.
any_value <- structure(list(), class = "any_value")
object <- function(word, content, others = list()) structure(list(word, content, others), class = "told_object")

# The attributes of a value that are told beside names and class.
others_of <- function(x) {
  all <- if (is.symbol(x)) NULL else attributes(x)
  all <- all[!names(all) %in% c("names", "class", "srcref", "srcfile", "wholeSrcref") & !vapply(all, is.environment, NA)]
  if (is.integer(all$row.names)) all$row.names <- NULL
  all
}

# Whether a value is what is told.
same <- function(value, told) {
  if (inherits(told, "any_value")) {
    return(TRUE)
  }
  class <- if (!is.null(value) && !is.symbol(value)) attr(value, "class", exact = TRUE)
  others <- others_of(value)
  word <- NULL
  if (inherits(told, "told_object")) {
    parts <- unclass(told)
    if (!identical(as.character(names(others)), as.character(names(parts[[3L]]))) || !all(vapply(seq_along(others), function(i) same(others[[i]], parts[[3L]][[i]]), NA))) {
      return(FALSE)
    }
    word <- parts[[1L]]
    told <- parts[[2L]]
    if (is.character(class) || length(others) > 0L) { # the content, without what has been compared
      if (!identical(class[1L], word)) {
        return(FALSE)
      }
      if (typeof(value) %in% c("logical", "integer", "double", "character", "list", "raw", "complex")) {
        value <- structure(unclass(value), class = NULL)
        attributes(value) <- list(names = names(value))
      } else if (is.language(value)) {
        attr(value, "class") <- NULL
      }
      return(same(value, told))
    } else if (!identical(typeof(value), word)) {
      return(FALSE)
    }
    if (word == "symbol") {
      return(identical(as.character(value), told))
    } else if (word == "language") {
      return(identical(paste(deparse(value, 500L, TRUE, NULL, 100L), collapse = "\n"), told))
    } else if (word == "complex") {
      return(same(as.list(c(rbind(Re(value), Im(value)))), object("list", as.list(told))))
    }
  } else if (is.character(class) && is.object(value) && !is.language(value) || length(others) > 0L) {
    return(FALSE)
  }
  if (!typeof(value) %in% c("NULL", "raw", "logical", "integer", "double", "character", "list")) {
    return(FALSE)
  }
  names_of <- function(x) if (is.null(names(x))) character(length(x)) else names(x)
  leaf <- function(x) is.null(x) || is.raw(x) || length(x) == 1L && !is.list(x) && is.null(names(x))
  if (leaf(told) && is.null(word)) {
    return(leaf(value) && length(value) == length(told) && identical(as.vector(value), told, num.eq = FALSE))
  }
  if (is.null(value) || is.raw(value) || length(value) != length(told) || !identical(names_of(value), names_of(told))) {
    return(FALSE)
  }
  if (is.null(word) && (is.list(value) && !is.list(told) || length(told) == 0L && typeof(value) != typeof(told))) {
    return(FALSE)
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
