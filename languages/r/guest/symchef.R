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

# What it uses of R's base is copied before the test's file is read, into an environment of its own that leads nowhere else: a test
# may define or replace any function of base. The copies are not compiled, so that R looks for nothing in base on their behalf, and
# so that their steps are not seen as steps of the test. No function is used that asks for methods, but where that is meant.
#
# A test may also do anything to the frames of the functions that have called it. So these have nothing in them: the runner is called by
# R itself, not within the code that makes it, and what it needs later is in the library's environment, which is no frame by then.

# Garbage of R's start is never collected else, and is part of all that is kept of the start.
base::invisible(base::gc())

.symchef <- base::local({
  # An environment with what code uses of base, and what that uses.
  seal <- function(code) {
    env <- new.env(parent = emptyenv())
    todo <- c(all.names(code, unique = TRUE), ".__S3MethodsTable__.")
    while (length(todo) > 0L) {
      found <- character()
      for (name in todo[!vapply(todo, exists, NA, env, inherits = FALSE)]) {
        for (used in c(name, paste0(name, "<-"))) {
          value <- get0(used, baseenv(), inherits = FALSE)
          if (typeof(value) == "closure") {
            found <- c(found, all.names(body(value)), unlist(lapply(formals(value), all.names)))
            value <- eval(as.call(list(`function`, as.pairlist(formals(value)), body(value))), env)
          }
          if (!is.null(value)) {
            assign(used, value, env)
          }
        }
      }
      todo <- unique(found[vapply(found, exists, NA, baseenv(), inherits = FALSE)])
      todo <- todo[!vapply(todo, exists, NA, env, inherits = FALSE)]
    }
    env
  }

  code <- quote({
  symchef <- new.env(parent = baseenv()) # with(symchef, ...) finds base, too
  session <- NULL # the present one: of the machine or of a replay
  ready <- FALSE # the test has been found and set up
  test_name <- ""
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

  # The test's options that would bind the library itself: how deep calls may be, that a longer vector is worth a warning. While the library
  # is at work they are others; test_options has the test's then.
  test_options <- NULL
  free <- function() {
    if (is.null(test_options) && (.Internal(getOption("expressions")) < 5000L || identical(.Internal(getOption("check.bounds")), TRUE))) {
      test_options <<- .Internal(options(expressions = 5000L, check.bounds = FALSE))
    }
  }
  bind <- function() {
    if (!is.null(test_options)) {
      old <- test_options
      test_options <<- NULL
      .Internal(options(old))
    }
  }

  # Ends the process as R does at the end of a script: warnings that wait are shown, .Last is called, and the finalizers run that are to run on exit.
  ends <- FALSE
  leave <- function() {
    bind()
    .Internal(printDeferredWarnings())
    .Internal(flush(stdout()))
    if (typeof(get0(".Last", globalenv(), mode = "function")) == "closure") {
      eval(as.call(list(as.name(".Last"))), globalenv())
    }
    ends <<- TRUE
    quit("no", 0L, FALSE)
  }

  # The oldest finalizer is the last to run. Then R closes devices and connections, shows warnings, and starts a process that removes its temporary
  # folder; all but the last is done here, and inside the machine the path ends.
  oldest <- new.env(parent = emptyenv())
  reg.finalizer(oldest, function(e) {
    if (ends) {
      free()
      if (length(get(".Devices", baseenv())) > 1L) {
        their$graphics_off()
      }
      for (i in .Internal(getAllConnections())) {
        if (i > 2L) .Internal(flush(.Internal(getConnection(i))))
      }
      .Internal(printDeferredWarnings())
      .Internal(flush(stdout()))
      session$end()
    }
  }, TRUE)

  new_machine <- function() {
    device <- NULL
    id <- NULL # of the connection: one of the test's may get its number
    begun <- FALSE
    kept <- NULL
    choice <- 0 # the input's number
    waiting <- character() # lines of the log that wait for begin
    newline <- as.raw(10L)

    # Opens the device: up to there R may run natively.
    open_device <- function() {
      if (!file.exists("/dev/symchef")) {
        cat("symchef: not inside symchef and SYMCHEF_REPLAY is not set: nothing to run\n", file = stderr())
        quit("no", 2L)
      }
      # Without raw, R looks into the file for signs of compression.
      device <<- file("/dev/symchef", "r+b", encoding = "native.enc", raw = TRUE)
      id <<- attr(device, "conn_id")
      request("hello 1")
    }

    # Whether the device is open: a test may have closed all connections.
    is_open <- function() {
      !is.null(device) && as.integer(device) %in% .Internal(getAllConnections()) &&
        identical(attr(.Internal(getConnection(as.integer(device))), "conn_id"), id)
    }

    # One round trip: the line, and what follows it, are one write; the fields of the reply as numbers.
    request <- function(line, body = raw()) {
      if (!is_open()) {
        open_device()
      }
      writeBin(c(charToRaw(line), newline, body), device)
      .Internal(flush(device))
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

    # A request that an engine need not understand.
    offer <- function(line, body = raw()) tryCatch(request(line, body), error = function(e) NULL)

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
        more <- request(paste("begin", quote_field(test_name)))
        kept <<- lapply(seq_len(sum(more)), function(i) raw(i %% 480)) # objects of other sizes, which no other execution has
        for (line in waiting) {
          with_text("log", text_bytes(line))
        }
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
      choice = function(name, index, n) {
        r <- declare(name, "choice", index, n)
        choice <<- r[1L]
        r[2L]
      },
      # What stands at the index that choice has given.
      chosen = function(tokens) offer(sprintf("chosen %d - %d", choice, length(tokens)), tokens),
      log = function(text) {
        if (begun) with_text("log", text_bytes(text)) else waiting <<- c(waiting, text)
      },
      prune = function() {
        begin()
        request("prune")
      },
      concretize = function(bytes) {
        begin()
        with_text("concretize", bytes)
        readBin(device, "raw", length(bytes))
      },
      returned = function(tokens) {
        begin()
        for (from in seq(1L, length(tokens), most_text)) {
          part <- tokens[from:min(from + most_text - 1L, length(tokens))]
          offer(sprintf("returned - %d", length(part)), part)
        }
      },
      frames = function(frames) {
        begin()
        offer(paste(c("frames", length(frames), vapply(frames, quote_field, "")), collapse = " "))
      },
      outcome = function(kind, type, message) {
        begin()
        with_text(paste("outcome", kind, quote_field(type)), text_bytes(message))
      },
      end = function() request("end"),
      usage = function(message) request(paste("usage", quote_field(message))),
      # Tells the engine which tests the file has; does not return.
      tests = function(names) request(paste(c("tests", length(names), vapply(names, quote_field, "")), collapse = " "))
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
      str2lang(gsub("\\/", "/", token, fixed = TRUE)) # its escapes are R's
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
    at <- 2L * seq_len(nchar(hex) %/% 2L) - 1L
    as.raw(strtoi(substring(hex, at, at + 1L), 16L))
  }

  new_replay <- function(path, out) {
    force(out)
    inputs <- NULL
    at <- 0L
    lines <- character()
    more <- "" # fields of the outcome
    told <- NULL # the outcome, once it is known
    device <- NULL
    # Reads the inputs; nothing before this depends on them.
    begin <- function() {
      if (is.null(inputs)) {
        inputs <<- from_json(paste(readLines(path, encoding = "UTF-8", warn = FALSE), collapse = "\n"))$inputs
        device <<- file("/dev/null", "r+b", raw = TRUE) # the test's connections get the numbers that they get in the machine
      }
    }
    next_input <- function(kind, name) {
      begin()
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
      told <<- list(kind, type, message)
      if (nzchar(out)) {
        con <- file(out, "wb", encoding = "native.enc")
        writeBin(charToRaw(sprintf('{"version":1,"kind":%s,"type":%s,"message":%s,"log":[%s]%s}\n', to_json(kind), to_json(type),
          to_json(message), paste(vapply(lines, to_json, ""), collapse = ","), more)), con)
        .Internal(close(con, "rw"))
      }
    }
    list(
      begin = begin,
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
      chosen = function(tokens) NULL,
      log = function(text) {
        lines <<- c(lines, text)
        if (!is.null(told)) outcome(told[[1L]], told[[2L]], told[[3L]])
      },
      prune = function() {
        outcome("pruned", "", "")
        quit("no", 0L, FALSE)
      },
      concretize = function(bytes) bytes,
      returned = function(tokens) more <<- sprintf('%s,"returned_hex":"%s"', more, paste(as.character(tokens), collapse = "")),
      frames = function(frames) more <<- sprintf('%s,"frames":[%s]', more, paste(vapply(frames, to_json, ""), collapse = ",")),
      outcome = outcome,
      end = function() NULL,
      tests = function(names) usage_error("several tests in the file, choose one with ::NAME: %s", paste(names, collapse = ", ")),
      usage = function(message) {
        cat("symchef: ", message, "\n", sep = "", file = stderr())
        outcome("usage", "", message)
        quit("no", 2L, FALSE)
      }
    )
  }

  # What a test calls ------------------------------------------------------------------------------------------

  current <- function(name = "none") {
    if (!ready) {
      usage_error("inputs exist only inside a test run by symchef")
    }
    if (!(is.character(name) && length(name) == 1L && !is.na(name) && nzchar(name))) {
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
    default <- if (is.raw(size)) size else if (is.character(size) && length(size) == 1L && !is.na(size)) charToRaw(enc2utf8(size))
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
  symchef$string <- function(name = NULL, size = NULL, least = NULL) rawToChar(sequence("str", name, size, least))

  # A symbolic raw vector; sizes as for string.
  symchef$raw <- function(name = NULL, size = NULL, least = NULL) sequence("bytes", name, size, least)

  # A symbolic integer, least <= value <= most, never NA; default is the first value to try.
  symchef$integer <- function(name = NULL, least = -.Machine$integer.max, most = .Machine$integer.max, default = NULL) {
    s <- current(name)
    least <- whole(least)
    most <- whole(most)
    if (is.null(least) || is.null(most) || least > most) {
      usage_error("input %s: integer(name, least, most, default) needs whole numbers, least <= most", name)
    }
    default <- if (is.null(default)) min(max(0L, least), most) else whole(default)
    if (is.null(default) || default < least || default > most) {
      usage_error("input %s: integer(name, least, most, default): the default is not within the bounds", name)
    }
    s$integer(name, default, least, most)
  }

  # A symbolic double, least <= value <= most; without bounds an infinity too, but never NaN or NA. default is the first value
  # to try.
  symchef$double <- function(name = NULL, least = -Inf, most = Inf, default = NULL) {
    s <- current(name)
    number <- function(x) is.numeric(x) && length(x) == 1L && !is.na(x)
    if (!number(least) || !number(most) || least > most) {
      usage_error("input %s: double(name, least, most, default) needs numbers, least <= most", name)
    }
    default <- if (is.null(default)) min(max(0, least), most) else default
    if (!number(default) || default < least || default > most) {
      usage_error("input %s: double(name, least, most, default): the default is not within the bounds", name)
    }
    s$double(name, as.double(default), as.double(least), as.double(most))
  }

  # TRUE or FALSE; the path forks here.
  symchef$logical <- function(name = NULL, default = FALSE) {
    s <- current(name)
    if (!is.null(default) && !isTRUE(default) && !isFALSE(default)) {
      usage_error("input %s: the default is TRUE or FALSE", name)
    }
    s$logical(name, isTRUE(default))
  }

  # One of the elements of a vector or list; the path forks once per element.
  symchef$choice <- function(name = NULL, options = NULL, default = NULL) {
    s <- current(name)
    if (!is.atomic(options) && !is.list(options) && !is.expression(options) || length(options) == 0L) {
      usage_error("input %s: no options", name)
    }
    index <- if (is.null(default)) 1L else match(list(default), lapply(seq_along(options), function(i) options[[i]]))
    if (is.na(index)) {
      usage_error("input %s: the default is not among the options", name)
    }
    option <- options[[s$choice(name, index - 1L, length(options)) + 1L]]
    s$chosen(encode(option))
    option
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
    session$log(paste(..., collapse = " "))
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
    if (!is.character(c(...))) {
      usage_error("expect takes strings")
    }
    expected <<- c(expected, ...)
    invisible(NULL)
  }

  # Within them the test's options do not bind.
  freed <- function(f) {
    force(f)
    function(...) {
      if (is.null(test_options)) {
        on.exit(bind())
        free()
      }
      f(...)
    }
  }
  for (name in ls(symchef)) {
    assign(name, freed(get(name, symchef)), symchef)
  }

  # The runner -------------------------------------------------------------------------------------------------

  # The names that the code assigns to, anywhere.
  assigned <- function(code) {
    if (is.call(code)) {
      to <- if (length(code) > 1L && is.symbol(code[[1L]]) && as.character(code[[1L]]) %in% c("<-", "=", "<<-", "assign", "delayedAssign", "makeActiveBinding")) code[[2L]]
      c(if (is.symbol(to) || is.character(to)) as.character(to), unlist(lapply(seq_along(code), function(i) assigned(code[[i]]))))
    } else if (is.expression(code)) {
      unlist(lapply(seq_along(code), function(i) assigned(code[[i]])))
    }
  }

  # Evaluates the file in the global environment, in the file's folder, and compiles what it defines. The compiler takes
  # a function of base for what it is in base, unless it sees another; that of the file may come later.
  load_test <- function(path) {
    tryCatch({
      code <- their$parse(path, keep.source = TRUE, encoding = "UTF-8")
      old <- setwd(dirname(path))
      sources <- options(keep.source = TRUE) # of other files, too
      on.exit({
        setwd(old)
        options(sources)
      })
      seen <- list2env(list(), parent = globalenv())
      for (name in unique(assigned(code))) {
        assign(name, NULL, seen)
      }
      for (i in seq_along(code)) {
        eval(their$compile(code[[i]], seen, quiet, attr(code, "srcref")[[i]]), globalenv())
      }
      for (name in ls(globalenv(), all.names = TRUE)) { # from other files
        f <- if (!bindingIsActive(as.name(name), globalenv())) get(name, globalenv())
        if (typeof(f) == "closure" && identical(environment(f), globalenv())) {
          f <- tryCatch(their$cmpfun(f, quiet), error = function(e) NULL)
          if (!is.null(f) && !bindingIsLocked(name, globalenv())) {
            assign(name, f, globalenv())
          }
        }
      }
    }, error = function(e) usage_error("%s", message_of(e)))
  }

  is_function <- function(f) typeof(f) %in% c("closure", "builtin", "special")

  # The condition's message: the test may define a method for it.
  message_of <- function(e) {
    tryCatch(paste(eval(as.call(list(conditionMessage, e)), globalenv()), collapse = "\n"), error = function(e) "")
  }

  # The name of the one test to run.
  choose <- function(wanted) {
    names <- ls(globalenv())
    names <- names[vapply(names, function(n) (n == "run" || startsWith(n, "test")) && is_function(get(n, globalenv())), NA)]
    list <- paste(names, collapse = ", ")
    if (wanted == "*" || !nzchar(wanted) && length(names) > 1L) {
      session$tests(names)
    } else if (nzchar(wanted)) {
      if (!wanted %in% names) {
        usage_error("no test named %s; tests here: %s", wanted, if (nzchar(list)) list else "none")
      }
      wanted
    } else if (length(names) == 0L) {
      usage_error("no test: define a function run or test...")
    } else {
      names
    }
  }

  # How many calls are looked at for frames, and how many frames are told.
  most_calls <- 200L
  most_frames <- 50L

  # The innermost frame, from one on, of a function in whose text ref is; 0 if there is none.
  holder <- function(ref, from, functions) {
    for (at in rev(seq_len(from))) {
      of <- attr(functions(at), "srcref")
      if (!is.null(of) && identical(attr(of, "srcfile"), attr(ref, "srcfile")) && of[1L] <= ref[1L] && ref[3L] <= of[3L]) {
        return(at)
      }
    }
    0L
  }

  # What led to the present call, outermost first: list(FILE, LINE, FUNCTION) of each call in a file whose lines are known.
  sites <- function(calls, parents, functions) {
    found <- list()
    for (k in seq_along(calls)[seq_along(calls) > length(calls) - most_calls]) {
      ref <- attr(calls[[k]], "srcref")
      if (is.null(ref)) {
        next
      }
      source <- attr(ref, "srcfile")
      at <- parents[k] # the frame of the function that makes the call
      if (at == 0L) { # R itself makes it: where the error is that it has found
        at <- holder(ref, k - 1L, functions)
      }
      name <- if (at > 0L && at <= length(calls)) calls[[at]][[1L]]
      name <- if (at > 0L && identical(functions(at), test_function)) {
        test_name
      } else if (is.symbol(name)) {
        as.character(name)
      } else if (is.call(name) && length(name) == 3L && is.symbol(name[[3L]])) { # PACKAGE::NAME, OBJECT$NAME
        as.character(name[[3L]])
      } else {
        "?"
      }
      file <- .subset2(source, "filename")
      if (!startsWith(file, "/")) {
        file <- paste0(.subset2(source, "wd"), "/", file)
      }
      found[[length(found) + 1L]] <- list(file, ref[1L], name)
    }
    if (length(found) > most_frames) found[length(found) - most_frames + seq_len(most_frames)] else found
  }

  # What a test returned, as tokens (docs/device-protocol.md). Texts and numbers are copied, and objects are looked at without their class.
  most_depth <- 8L
  most_value <- 131072L
  most_nodes <- 2048L
  beginning <- 64L # bytes of what there is no room for
  cut <- charToRaw("z0:")
  encode <- function(value) {
    room <- most_value - length(cut)
    nodes <- most_nodes
    out <- list()
    put <- function(token) { # in a place of the length of a cut, which has been reserved
      more <- length(token) - length(cut)
      if (more > room) {
        token <- cut
        more <- 0L
      }
      room <<- room - more
      out[[length(out) + 1L]] <<- token
    }
    head <- function(letter, n, places) {
      token <- charToRaw(sprintf("%s%d:", letter, n))
      more <- length(token) - length(cut) + places * length(cut)
      if (more > room || places > nodes) {
        long(charToRaw(sprintf("%s0:", letter)), n)
        return(FALSE)
      }
      room <<- room - more
      nodes <<- nodes - places
      out[[length(out) + 1L]] <<- token
      TRUE
    }
    leaf <- function(letter, bytes) {
      if (length(bytes) > room) {
        long(c(charToRaw(sprintf("%s%d:", letter, beginning)), bytes[seq_len(beginning)]), length(bytes))
      } else {
        put(c(charToRaw(sprintf("%s%d:", letter, length(bytes))), bytes))
      }
    }
    long <- function(begin, n) {
      put(c(charToRaw("L1:"), begin, charToRaw("i4:"), writeBin(as.integer(n), raw(), endian = "little"), charToRaw("n0:")))
    }
    # A vector of more numbers than there are places for, by the bytes of all.
    packed <- function(x, kind) {
      token <- charToRaw(sprintf("k1:o%d:%s", nchar(kind), kind))
      room <<- room - length(token)
      out[[length(out) + 1L]] <<- token
      leaf("b", writeBin(x, raw(), endian = "little"))
    }
    text <- function(x) if (is.na(x)) leaf("o", charToRaw("NA_character_")) else leaf("s", charToRaw(enc2utf8(x)))
    # Opens what is told with a word for what it is before it.
    word <- function(w, n = 2L) {
      if (head("(", n, n)) {
        leaf("o", charToRaw(w))
        TRUE
      } else {
        FALSE
      }
    }
    # Whether a list is told by the same tokens as a vector.
    like_vector <- function(x) {
      kinds <- vapply(seq_along(x), function(i) typeof(.subset2(x, i)), "")
      length(x) > 0L && kinds[1L] %in% c("integer", "double", "character") && all(kinds == kinds[1L]) &&
        all(vapply(seq_along(x), function(i) length(.subset2(x, i)) == 1L && is.null(attributes(.subset2(x, i))), NA))
    }
    numbers <- function(x, letter, size) {
      bytes <- writeBin(x, raw(), endian = "little")
      for (i in seq_along(x)) {
        leaf(letter, bytes[(i - 1L) * size + seq_len(size)])
      }
    }
    plain <- function(x, depth) {
      kind <- typeof(x)
      n <- length(x)
      if (kind == "NULL") {
        put(charToRaw("n0:"))
      } else if (kind == "raw") {
        leaf("b", x)
      } else if (kind == "logical" && n == 1L) {
        put(charToRaw(if (is.na(x)) "o2:NA" else if (x) "T0:" else "F0:"))
      } else if (kind %in% c("logical", "integer", "double") && n > nodes && room > 100L) {
        packed(if (kind == "logical") as.integer(x) else x, kind)
      } else if (kind == "logical") {
        if (head("l", n, n)) numbers(as.integer(x), "i", 4L)
      } else if (kind == "complex") {
        if (head("l", 2L * n, 2L * n)) numbers(as.double(rbind(Re(x), Im(x))), "f", 8L)
      } else if (kind %in% c("integer", "double", "character")) {
        if (n == 1L || head("l", n, n)) {
          switch(kind,
            character = for (i in seq_len(n)) text(x[i]),
            double = numbers(as.double(x), "f", 8L),
            numbers(as.integer(x), "i", 4L)
          )
        }
      } else if (kind == "list") {
        if (head("l", n, n)) {
          for (i in seq_len(n)) {
            add(.subset2(x, i), depth + 1L)
          }
        }
      } else if (kind == "symbol") {
        text(as.character(x))
      } else if (kind == "language") {
        text(paste(.Internal(deparse(x, 500L, TRUE, 0L, 100L)), collapse = "\n"))
      } else {
        leaf("o", charToRaw(kind))
      }
    }
    bare <- c("logical", "integer", "double", "character", "list", "raw", "complex")
    # What is told beside the elements: other attributes than names and class, those of a file's text, and row names that are numbers.
    others_of <- function(x) {
      all <- attributes(x)
      keep <- !names(all) %in% c("names", "class", "srcref", "srcfile", "wholeSrcref") & vapply(seq_along(all), function(i) typeof(.subset2(all, i)) != "environment", NA)
      rows <- match("row.names", names(all), 0L)
      if (rows > 0L && typeof(.subset2(all, rows)) == "integer") keep[rows] <- FALSE
      .subset(all, keep)
    }
    add <- function(x, depth) {
      kind <- typeof(x)
      plainly <- kind %in% c("symbol", "NULL")
      class <- if (!plainly) attr(x, "class", exact = TRUE)
      others <- if (!plainly) others_of(x)
      if (depth >= most_depth && (kind == "list" || !is.null(class) || length(others) > 0L)) {
        out[[length(out) + 1L]] <<- cut
        return(NULL)
      }
      if (is.character(class) && length(class) > 0L || length(others) > 0L) { # its class, what it is made of, and its attributes
        if (!head("(", if (length(others) > 0L) 3L else 2L, if (length(others) > 0L) 3L else 2L)) {
          return(NULL)
        }
        if (is.character(class) && length(class) > 0L) leaf("o", charToRaw(enc2utf8(class[1L]))) else put(charToRaw("n0:"))
        content(if (kind %in% bare && !is.null(class)) unclass(x) else x, kind, depth + 1L)
        if (length(others) > 0L) {
          n <- length(others)
          if (head("{", n, 2L * n)) {
            for (i in seq_len(n)) {
              text(names(others)[i])
              add(.subset2(others, i), depth + 2L)
            }
          }
        }
      } else {
        content(x, kind, depth)
      }
      NULL
    }
    # The elements, with a word where others are told by the same tokens.
    content <- function(x, kind, depth) {
      n <- length(x)
      names <- if (kind %in% bare) attr(x, "names", exact = TRUE)
      named <- is.character(names) && length(names) == n
      w <- if (kind %in% c("symbol", "language", "complex") || kind %in% c("integer", "double", "character") && n == 0L || kind == "logical" && n != 1L) {
        kind
      } else if (kind == "list" && (n > 1L || named) && like_vector(x)) {
        "list"
      }
      if (!is.null(w) && !word(w)) {
        return(NULL)
      }
      if (named && !kind %in% c("raw", "complex")) {
        if (head("{", n, 2L * n)) {
          for (i in seq_len(n)) {
            text(names[i])
            if (kind == "logical" && n != 1L) put(c(charToRaw("i4:"), writeBin(as.integer(x[i]), raw(), endian = "little"))) else add(.subset2(x, i), depth + 1L)
          }
        }
      } else {
        plain(x, depth)
      }
      NULL
    }
    add(value, 0L)
    unlist(out)
  }

  test_function <- NULL
  test_path <- ""
  value <- NULL # what the test returned
  places <- list() # what led to its error
  asserted <- FALSE

  # An error that nobody handles: its places.
  on_error <- function(e) {
    free()
    n <- sys.nframe() # the raiser's frame is below that of stop and this one
    asserted <<- n > 2L && identical(sys.function(n - 2L), their$stopifnot) || inherits(e, "expectation_failure")
    places <<- sites(sys.calls(), sys.parents(), function(n) sys.function(n))
  }

  # Calls the test; NULL, or list(condition, call) if an error ended it. As tryCatch and withCallingHandlers do it, without
  # anything in the frame.
  call_test <- function() {
    .Internal(.addCondHands("error", list(NULL), baseenv(), environment(), FALSE))
    .Internal(.addCondHands("error", list(on_error), baseenv(), NULL, TRUE))
    value <<- test_function()
    NULL
  }

  prepare <- function(argument) {
    if (length(argument) != 1L) {
      session$usage("usage: R -f symchef.R --args TEST[::NAME]")
    }
    at <- regexpr("::[^/]*$", argument)
    test_path <<- if (at > 0L) substr(argument, 1L, at - 1L) else argument
    failed <- tryCatch({
      load_test(test_path)
      test_name <<- choose(if (at > 0L) substring(argument, at + 2L) else "")
      setup <- get0("setup", globalenv(), mode = "function", inherits = FALSE)
      if (!is.null(setup)) {
        setup()
      }
      test_function <<- get(test_name, globalenv(), mode = "function")
      warm()
      NULL
    }, error = identity)
    if (!is.null(failed)) {
      usage(failed)
    }
    ready <<- TRUE
    session$begin()
  }

  usage <- function(e) {
    why <- sub("\n.*", "", message_of(e))
    session$usage(if (startsWith(why, test_path)) why else paste0(test_path, ": ", why))
  }

  # Tells how the test ended, and leaves.
  finish <- function(failed) {
    setTimeLimit()
    setSessionTimeLimit()
    free()
    if (is.null(failed)) {
      session$returned(encode(value))
      session$outcome("ok", "", "")
      leave()
    }
    e <- failed[[1L]]
    if (is.null(e) || is.character(e)) { # R itself has raised it
      e <- simpleError(if (is.null(e)) .Internal(geterrmessage()) else e, failed[[2L]])
    }
    if (inherits(e, "symchef_usage")) {
      usage(e)
    }
    message <- message_of(e)
    if (inherits(e, "CStackOverflowError")) { # its number depends on where the stack begins
      message <- "C stack usage is too close to the limit"
    }
    known <- inherits(e, expected) || any(vapply(expected, grepl, NA, message, fixed = TRUE))
    if (length(places) > 0L) {
      session$frames(vapply(places, function(p) paste0(p[[1L]], ":", p[[2L]], ":", p[[3L]]), ""))
    }
    kind <- attr(e, "class", exact = TRUE)
    session$outcome(if (known) "expected" else if (asserted) "assertion" else "exception", if (is.character(kind)) kind[1L] else typeof(e), message)
    leave()
  }

  # The program: whoever looks at it from the test sees frames without variables.
  main <- function() {
    rm(".symchef", envir = globalenv())
    prepare(commandArgs(TRUE))
    failed <- call_test()
    finish(failed)
  }

  # A package that the test has loaded may load many others when it is first used for something. What a test is there for is used
  # once before it begins: an expectation that fails, of each kind of message.
  first_uses <- list(testthat = quote({
    tryCatch(testthat::expect_equal(1L, 2L), error = identity)
    tryCatch(testthat::expect_identical("a", "b"), error = identity)
    tryCatch(testthat::expect_true(FALSE), error = identity)
    tryCatch(testthat::expect_error(1), error = identity)
  }))
  warm <- function() {
    for (package in names(first_uses)[names(first_uses) %in% loadedNamespaces()]) {
      tryCatch(eval(first_uses[[package]], list2env(list(), parent = baseenv())), error = function(e) NULL)
    }
  }

  quiet <- list(suppressAll = TRUE)
  their$cmpfun(eval(quote(function(x) x + 1), globalenv()), quiet) # the compiler is loaded when it is first used
  their$attach(list(symchef = symchef), name = "symchef", warn.conflicts = FALSE)
  replay <- Sys.getenv("SYMCHEF_REPLAY")
  if (nzchar(replay)) {
    session <- new_replay(replay, Sys.getenv("SYMCHEF_OUTCOME"))
    Sys.unsetenv(c("SYMCHEF_REPLAY", "SYMCHEF_OUTCOME")) # the test sees the environment of the machine
  } else if (file.exists("/symchef/replay/native")) { # docs/device-protocol.md
    session <- new_replay("/symchef/replay/inputs.json", "/symchef/replay/outcome.json")
  } else {
    session <- new_machine()
  }
  main
  })
  eval(code, list2env(list(their = list(stopifnot = stopifnot, attach = attach, parse = parse, compile = compiler::compile, cmpfun = compiler::cmpfun,
    graphics_off = if (isNamespaceLoaded("grDevices")) getExportedValue("grDevices", "graphics.off"))), parent = seal(code)))
})
.symchef()
