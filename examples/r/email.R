# An e-mail check that looks for '@' (the CHEF paper, figure 2, in R).
#
# Exactly 2 classes of (outcome, output): rejected, because '@' is absent or comes before position 4 (an error, declared
# expected); accepted otherwise. Nothing is printed.

validate <- function(email) {
  at <- regexpr("@", email, fixed = TRUE)
  if (at < 4L) {
    stop("invalid e-mail address")
  }
}

test_email <- function() {
  symchef$expect("invalid e-mail address")
  validate(symchef$string("email", 6L))
}
