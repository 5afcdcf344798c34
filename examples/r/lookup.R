# Prices by name.
#
# Exactly 6 classes of (outcome, output): three prices by name; the word that stops, an error; another word that is in the list of
# words, or none of them.

prices <- c(pear = 3, plum = 2, lime = 1)
words <- c("stop", "kiwi", names(prices))

test_lookup <- function() {
  name <- symchef$string("name", 4L)
  if (name == "stop") {
    stop("stopped")
  }
  cat(prices[name], name %in% words, length(unique(c(words, name))), "\n")
}
