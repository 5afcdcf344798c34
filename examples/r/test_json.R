# Settings read from JSON, and a port checked against them.
#
# Exactly 3 classes of (outcome, output): port 0 fails the assertion; any other port is open or not.

library(jsonlite)

settings <- fromJSON('{"ports": {"least": 1024, "most": 49151}, "closed": [8080, 9090]}')

is_open <- function(port) {
  ports <- settings$ports
  if (port < ports$least || port > ports$most) {
    return(FALSE)
  }
  for (closed in settings$closed) {
    if (port == closed) {
      return(FALSE)
    }
  }
  TRUE
}

test_json <- function() {
  port <- symchef$integer("port", 0L, 65535L)
  stopifnot(port > 0L)
  print(toJSON(list(open = is_open(port)), auto_unbox = TRUE))
}
