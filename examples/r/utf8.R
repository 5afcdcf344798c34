# The first character of three bytes of UTF-8.
#
# Exactly 4 classes of (outcome, output): a character of one, two or three bytes, or an error, declared expected.

width <- function(bytes) {
  code <- as.integer(bytes)
  first <- code[1L]
  n <- if (first < 0x80) 1L else if (first < 0xc2) 0L else if (first < 0xe0) 2L else if (first < 0xf0) 3L else 0L
  if (n == 0L) {
    stop("no character begins so")
  }
  for (i in seq_len(n - 1L)) {
    if (code[i + 1L] < 0x80 || code[i + 1L] > 0xbf) {
      stop("the character is cut off")
    }
  }
  if (first == 0xe0 && code[2L] < 0xa0 || first == 0xed && code[2L] > 0x9f) {
    stop("no character is written so")
  }
  n
}

test_width <- function() {
  symchef$expect("no character", "cut off")
  cat(width(symchef$raw("bytes", 3L)), "bytes\n")
}
