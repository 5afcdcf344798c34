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
    choice = function(name, options, ...) options[[value(name) + 1L]],
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

# The error that the test ends with on one case, each time in a newly loaded file, or NULL.
run_case <- function(inputs) {
  scope <- new.env(parent = list2env(list(symchef = stand_in(inputs)), parent = globalenv()))
  scope$.packageName <- ".GlobalEnv" # S4 classes of the file are looked for by it
  tryCatch({
    sys.source(test_source, scope, chdir = TRUE)
    if (is.function(scope$setup)) {
      scope$setup()
    }
    scope[[test_name]]()
    NULL
  }, error = identity)
}

# raises is NULL or the class of the error that is expected.
check <- function(inputs, raises) {
  e <- run_case(inputs)
  if (is.null(e) && !is.null(raises)) {
    fail(paste("did not raise", raises))
  } else if (!is.null(e) && !identical(class(e)[1L], raises)) {
    stop(e)
  } else {
    succeed()
  }
}

# A case that fails until what it has found is repaired; from then on it must be a plain case.
finding <- function(inputs, reason) {
  if (is.null(run_case(inputs))) {
    fail(paste("no longer:", reason))
  } else {
    skip(reason)
  }
}
