# Symbolic tests for stock R.
#
#     library(jsonlite)
#
#     test_port <- function() {
#       n <- symchef$integer("n", 0L, 70000L)
#       if (n > 65535L) stop("no port: ", n)
#     }
#
# This file is the library, and the program that runs a test: R -f symchef.R --args /abs/test.R[::NAME]. It serves
# inside the machine, where inputs are symbolic, and in native replay (SYMCHEF_REPLAY in the environment), where
# they are the values of one test case. Inside the machine, requests go to /dev/symchef
# (docs/device-protocol.md); symbolic texts follow a request's line, symbolic values its reply. Nothing here looks at a symbolic
# value: a comparison may split the path.

local({
  symchef <- new.env(parent = baseenv())
  session <- NULL # the present one: of the machine or of a replay
  ready <- FALSE # the test has been found and set up
  expected <- character()

  # A mistake of the test: what it asked for cannot be.
  usage_error <- function(...) {
    stop(structure(class = c("symchef_usage", "error", "condition"), list(message = sprintf(...), call = NULL)))
  }

  # The session inside the machine ------------------------------------------------------------------------------

  # A request is one write, so it and the text behind it fit into the buffer of a file.
  most_text <- 3000L

  # A field of a request: percent-encoded, % for the empty text.
  quote_field <- function(text) {
    bytes <- if (is.raw(text)) text else charToRaw(enc2utf8(text))
    if (length(bytes) == 0L) {
      return("%")
    }
    code <- as.integer(bytes)
    plain <- code > 32L & code < 127L & code != 37L
    out <- sprintf("%%%02X", code)
    out[plain] <- rawToChar(bytes[plain], multiple = TRUE)
    paste(out, collapse = "")
  }

  new_machine <- function() {
    # Without raw, R looks into the file for signs of compression.
    device <- file("/dev/symchef", "r+b", raw = TRUE)
    begun <- FALSE
    newline <- as.raw(10L)

    # One round trip: the line, and what follows it, are one write; the fields of the reply as numbers.
    request <- function(line, body = raw()) {
      writeBin(c(charToRaw(line), newline, body), device)
      flush(device)
      reply <- raw()
      while ((byte <- readBin(device, "raw", 1L)) != newline) {
        reply <- c(reply, byte)
      }
      fields <- strsplit(rawToChar(reply), " ", fixed = TRUE)[[1L]]
      if (fields[1L] != "ok") {
        usage_error("%s", paste(fields[-1L], collapse = " "))
      }
      as.numeric(fields[-1L])
    }

    # A request about a text: its length, and the text behind the line.
    with_text <- function(line, bytes) {
      request(sprintf("%s - %d", line, length(bytes)), bytes)
    }

    text_bytes <- function(text) {
      text <- enc2utf8(text)
      if (nchar(text, "bytes") > most_text) {
        text <- substr(text, 1L, most_text %/% 4L)
      }
      charToRaw(text)
    }

    begin <- function() {
      if (!begun) {
        begun <<- TRUE
        request(paste("begin", quote_field(symchef$test)))
      }
    }

    declare <- function(name, ...) {
      begin()
      request(paste(c("input", quote_field(name), ...), collapse = " "))
    }

    value <- function(id, what, n, size) {
      request(sprintf("value %d %d 0", id, size))
      readBin(device, what, n)
    }

    list(
      hello = function() request("hello 1"),
      begin = begin,
      sequence = function(kind, name, default, least, most) {
        r <- declare(name, kind, quote_field(default), least, most, if (kind == "str") "2")
        if (r[2L] == 0) raw() else value(r[1L], "raw", r[2L], r[2L])
      },
      integer = function(name, default, least, most) {
        value(declare(name, "int", default, least, most), "integer", 2L, 8L)[1L]
      },
      double = function(name, default, least, most) {
        number <- function(x) tolower(sprintf("%.17g", x))
        value(declare(name, "float", number(default), number(least), number(most)), "double", 1L, 8L)
      },
      logical = function(name, default) {
        value(declare(name, "bool", as.integer(default)), "integer", 2L, 8L)[1L] != 0L
      },
      choice = function(name, index, n) declare(name, "choice", index, n)[2L],
      log = function(text) with_text("log", text_bytes(text)),
      prune = function() request("prune"),
      concretize = function(bytes) {
        with_text("concretize", bytes)
        readBin(device, "raw", length(bytes))
      },
      outcome = function(kind, type, message) {
        begin()
        with_text(paste("outcome", kind, quote_field(type)), text_bytes(message))
        flush(stdout())
        request("end")
      },
      usage = function(message) request(paste("usage", quote_field(message)))
    )
  }

  # The session of a native replay -----------------------------------------------------------------------------

  # The value that JSON text holds; numbers are left as texts.
  from_json <- function(text) {
    tokens <- regmatches(text, gregexpr('"(?:[^"\\\\]|\\\\.)*"|[][{}:,]|[^][{}:,"\\s]+', text, perl = TRUE))[[1L]]
    at <- 0L
    take <- function() {
      at <<- at + 1L
      tokens[at]
    }
    string <- function(token) {
      eval(str2lang(gsub("\\/", "/", token, fixed = TRUE))) # its escapes are R's
    }
    items <- function(close, item) {
      out <- list()
      while (tokens[at + 1L] != close) {
        out <- item(out)
        if (tokens[at + 1L] == ",") {
          take()
        }
      }
      take()
      out
    }
    value <- function() {
      token <- take()
      if (token == "{") {
        items("}", function(out) {
          key <- string(take())
          take()
          out[[key]] <- value()
          out
        })
      } else if (token == "[") {
        items("]", function(out) c(out, list(value())))
      } else if (startsWith(token, '"')) {
        string(token)
      } else {
        token
      }
    }
    value()
  }

  to_json <- function(text) {
    bytes <- charToRaw(enc2utf8(text))
    code <- as.integer(bytes)
    out <- sprintf("\\u%04x", code)
    plain <- code >= 32L & code != 34L & code != 92L & code != 127L
    out[plain] <- rawToChar(bytes[plain], multiple = TRUE)
    paste0('"', paste(out, collapse = ""), '"')
  }

  from_hex <- function(hex) {
    if (!nzchar(hex)) {
      return(raw())
    }
    at <- seq(1L, length.out = nchar(hex) %/% 2L, by = 2L)
    as.raw(strtoi(substring(hex, at, at + 1L), 16L))
  }

  new_replay <- function(path) {
    inputs <- from_json(paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n"))$inputs
    at <- 0L
    lines <- character()
    next_input <- function(kind, name) {
      at <<- at + 1L
      if (at > length(inputs)) {
        usage_error("replay: no value for input %s", name)
      }
      item <- inputs[[at]]
      if (item$name != name || item$type != kind) {
        usage_error("replay: the test declares %s %s, the file has %s %s", kind, name, item$type, item$name)
      }
      item
    }
    within <- function(name, value, least, most) {
      if (value < least || value > most) {
        usage_error("replay: the value of %s is out of bounds", name)
      }
      value
    }
    outcome <- function(kind, type, message) {
      path <- Sys.getenv("SYMCHEF_OUTCOME")
      if (nzchar(path)) {
        out <- file(path, "wb")
        writeBin(charToRaw(sprintf('{"version":1,"kind":%s,"type":%s,"message":%s,"log":[%s]}\n', to_json(kind), to_json(type),
          to_json(message), paste(vapply(lines, to_json, ""), collapse = ","))), out)
        close(out)
      }
      flush(stdout())
      sink(file("/dev/null", "w")) # finalizers, which do not run on a path inside the machine
      quit("no", if (kind == "usage") 2L else 0L, runLast = FALSE)
    }
    list(
      begin = function() NULL,
      sequence = function(kind, name, default, least, most) {
        bytes <- from_hex(c(next_input(kind, name)$bytes_hex, "")[1L]) # no field for no bytes
        within(name, length(bytes), least, most)
        bytes
      },
      integer = function(name, default, least, most) within(name, as.integer(next_input("int", name)$value), least, most),
      double = function(name, default, least, most) {
        within(name, readBin(from_hex(next_input("float", name)$bytes_hex), "double"), least, most)
      },
      logical = function(name, default) next_input("bool", name)$value == "true",
      choice = function(name, index, n) within(name, as.integer(next_input("choice", name)$value), 0L, n - 1L),
      log = function(text) lines <<- c(lines, text),
      prune = function() outcome("pruned", "", ""),
      concretize = function(bytes) bytes,
      outcome = outcome,
      usage = function(message) {
        cat("symchef: ", message, "\n", sep = "", file = stderr())
        outcome("usage", "", message)
      }
    )
  }

  # What a test calls ------------------------------------------------------------------------------------------

  current <- function(name) {
    if (!ready) {
      usage_error("inputs exist only inside a test run by symchef")
    }
    if (!missing(name) && !(is.character(name) && length(name) == 1L && !is.na(name) && nzchar(name))) {
      usage_error("an input's name is a non-empty string")
    }
    session
  }

  # A whole number among R's integers, or NULL.
  whole <- function(x) {
    if (is.numeric(x) && length(x) == 1L && !is.na(x) && x == trunc(x) && abs(x) <= .Machine$integer.max) as.integer(x)
  }

  sequence <- function(kind, name, size, least, most_size = 1000L) {
    s <- current(name)
    default <- if (is.raw(size)) size else if (is.character(size) && length(size) == 1L) charToRaw(enc2utf8(size))
    most <- if (is.null(default)) whole(size) else length(default)
    least <- if (is.null(least)) most else whole(least)
    if (is.null(most) || is.null(least) || least < 0L || least > most || most > most_size) {
      usage_error("input %s: needs a size of at most %d, or a default, and 0 <= least <= size", name, most_size)
    }
    if (is.null(default)) {
      default <- rep(as.raw(if (kind == "str") 97L else 0L), most)
    } else if (kind == "str" && any(default > 127L, default == 0L)) {
      usage_error("input %s: the default is not ASCII", name)
    }
    s$sequence(kind, name, default, least, most)
  }

  # A symbolic string of ASCII characters: of exactly size, or of least to size. In place of the size, the first value to
  # try.
  symchef$string <- function(name, size, least = NULL) rawToChar(sequence("str", name, size, least))

  # A symbolic raw vector; sizes as for string.
  symchef$raw <- function(name, size, least = NULL) sequence("bytes", name, size, least)

  # A symbolic integer, least <= value <= most, never NA; default is the first value to try.
  symchef$integer <- function(name, least = -.Machine$integer.max, most = .Machine$integer.max, default = NULL) {
    s <- current(name)
    least <- whole(least)
    most <- whole(most)
    if (is.null(least) || is.null(most) || least > most) {
      usage_error("input %s: needs whole numbers, least <= most", name)
    }
    default <- if (is.null(default)) min(max(0L, least), most) else whole(default)
    if (is.null(default) || default < least || default > most) {
      usage_error("input %s: the default is not within the bounds", name)
    }
    s$integer(name, default, least, most)
  }

  # A symbolic double, least <= value <= most; without bounds an infinity too, but never NaN or NA. default is the first value
  # to try.
  symchef$double <- function(name, least = -Inf, most = Inf, default = NULL) {
    s <- current(name)
    number <- function(x) is.numeric(x) && length(x) == 1L && !is.na(x)
    if (!number(least) || !number(most) || least > most) {
      usage_error("input %s: needs numbers, least <= most", name)
    }
    default <- if (is.null(default)) min(max(0, least), most) else default
    if (!number(default) || default < least || default > most) {
      usage_error("input %s: the default is not within the bounds", name)
    }
    s$double(name, as.double(default), as.double(least), as.double(most))
  }

  # TRUE or FALSE; the path forks here.
  symchef$logical <- function(name, default = FALSE) current(name)$logical(name, isTRUE(default))

  # One of the elements of a vector or list; the path forks once per element.
  symchef$choice <- function(name, options, default = NULL) {
    s <- current(name)
    if (length(options) == 0L) {
      usage_error("input %s: no options", name)
    }
    index <- if (is.null(default)) 1L else match(list(default), as.list(options))
    if (is.na(index)) {
      usage_error("input %s: the default is not among the options", name)
    }
    options[[s$choice(name, index - 1L, length(options)) + 1L]]
  }

  # Goes on only where the condition holds. Evaluating it has already split the paths.
  symchef$assume <- function(condition) {
    s <- current()
    if (!isTRUE(condition)) {
      s$prune()
    }
    invisible(TRUE)
  }

  # A line in the test case: the values' texts, joined by spaces.
  symchef$log <- function(...) {
    current()$log(paste(..., collapse = " "))
    invisible(NULL)
  }

  # The value, fixed to one on this path; the others are explored on others. Takes strings, raw vectors, numbers, logicals.
  symchef$concretize <- function(value) {
    s <- current()
    kind <- typeof(value)
    if (length(value) == 0L) {
      value
    } else if (kind == "raw") {
      s$concretize(value)
    } else if (kind == "character" && length(value) == 1L) {
      if (nzchar(value)) rawToChar(s$concretize(charToRaw(value))) else value
    } else if (kind %in% c("integer", "double", "logical")) {
      readBin(s$concretize(writeBin(value, raw())), kind, length(value))
    } else {
      usage_error("concretize takes a string, a raw vector, numbers or logicals, not %s", kind)
    }
  }

  # Declares errors that are no findings: those of one of the classes, or whose message holds one of the texts.
  symchef$expect <- function(...) {
    current()
    if (!is.character(c(...))) {
      usage_error("expect takes strings")
    }
    expected <<- c(expected, ...)
    invisible(NULL)
  }

  # The runner -------------------------------------------------------------------------------------------------

  # Evaluates the file in the global environment, in the file's folder, and compiles what it defines.
  load_test <- function(path) {
    tryCatch({
      code <- parse(path, keep.source = TRUE, encoding = "UTF-8")
      old <- setwd(dirname(path))
      sources <- options(keep.source = TRUE) # of other files, too
      on.exit({
        setwd(old)
        options(sources)
      })
      for (i in seq_along(code)) {
        eval(compiler::compile(code[[i]], globalenv(), quiet, attr(code, "srcref")[[i]]), globalenv())
      }
      for (name in ls(globalenv())) { # from other files
        f <- get(name, globalenv())
        if (is.function(f) && typeof(f) == "closure" && identical(environment(f), globalenv())) {
          assign(name, compiler::cmpfun(f, quiet), globalenv())
        }
      }
    }, error = function(e) usage_error("%s", conditionMessage(e)))
  }

  # The name of the one test to run.
  choose <- function(wanted) {
    names <- ls(globalenv())
    names <- names[vapply(names, function(n) is.function(get(n, globalenv())) && (n == "run" || startsWith(n, "test")), NA)]
    list <- paste(names, collapse = ", ")
    if (nzchar(wanted)) {
      if (!wanted %in% names) {
        usage_error("no test named %s; tests here: %s", wanted, if (nzchar(list)) list else "none")
      }
      wanted
    } else if (length(names) == 0L) {
      usage_error("no test: define a function run or test...")
    } else if (length(names) > 1L) {
      usage_error("several tests in the file, choose one with ::NAME: %s", list)
    } else {
      names
    }
  }

  # Where the code of the test's files was that led to the present call: FILE:LINE, or nothing.
  site <- function(calls) {
    for (call in rev(calls)) {
      ref <- attr(call, "srcref")
      if (!is.null(ref)) {
        return(paste0(basename(attr(ref, "srcfile")$filename), ":", ref[1L]))
      }
    }
    ""
  }

  run <- function(argument) {
    at <- regexpr("::[^/]*$", argument)
    path <- if (at > 0L) substr(argument, 1L, at - 1L) else argument
    place <- ""
    asserted <- FALSE
    failed <- tryCatch(withCallingHandlers({
      load_test(path)
      symchef$test <- choose(if (at > 0L) substring(argument, at + 2L) else "")
      if (is.function(globalenv()$setup)) {
        globalenv()$setup()
      }
      test <- get(symchef$test, globalenv())
      ready <<- TRUE
      session$begin()
      test()
      NULL
    }, error = function(e) {
      n <- sys.nframe() # the raiser's frame is below that of stop and this one
      asserted <<- n > 2L && identical(sys.function(n - 2L), stopifnot) || inherits(e, "expectation_failure")
      place <<- site(sys.calls())
    }), error = identity)
    if (is.null(failed)) {
      session$outcome("ok", "", "")
    } else if (inherits(failed, "symchef_usage") || !ready) {
      why <- sub("\n.*", "", conditionMessage(failed))
      session$usage(if (startsWith(why, path)) why else paste0(path, ": ", why))
    }
    message <- paste(conditionMessage(failed), collapse = "\n")
    if (inherits(failed, "CStackOverflowError")) { # its number depends on where the stack begins
      message <- "C stack usage is too close to the limit"
    }
    known <- inherits(failed, expected) || any(vapply(expected, grepl, NA, message, fixed = TRUE))
    if (nzchar(place)) {
      message <- paste0(message, " (", place, ")")
    }
    session$outcome(if (known) "expected" else if (asserted) "assertion" else "exception", class(failed)[1L], message)
  }

  loadNamespace("compiler")
  quiet <- list(suppressAll = TRUE)
  compiler::cmpfun(function(x) x + 1, quiet) # the compiler is loaded when it is first used
  attach(list(symchef = symchef), name = "symchef", warn.conflicts = FALSE)
  replay <- Sys.getenv("SYMCHEF_REPLAY")
  if (nzchar(replay)) {
    session <- new_replay(replay)
  } else if (file.exists("/dev/symchef")) {
    session <- new_machine()
    session$hello()
  } else {
    cat("symchef: not inside symchef and SYMCHEF_REPLAY is not set: nothing to run\n", file = stderr())
    quit("no", 2L)
  }
  argument <- commandArgs(TRUE)
  if (length(argument) != 1L) {
    session$usage("usage: R -f symchef.R --args TEST[::NAME]")
  }
  run(argument)
})
