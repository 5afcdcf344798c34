# Which triangle has these sides?
#
# Exactly 4 classes of (outcome, output): none, equilateral, isosceles, scalene.

triangle <- function(a, b, c) {
  if (a + b <= c || b + c <= a || a + c <= b) {
    "none"
  } else if (a == b && b == c) {
    "equilateral"
  } else if (a == b || b == c || a == c) {
    "isosceles"
  } else {
    "scalene"
  }
}

run <- function() {
  side <- function(name) symchef$integer(name, 1L, 100L)
  print(triangle(side("a"), side("b"), side("c")))
}
