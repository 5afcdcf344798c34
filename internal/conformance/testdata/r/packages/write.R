# jsonlite: R values as text, and back.
library(jsonlite)
values <- list(1L, pi, TRUE, "q\"uote", c(1.5, NA, 3), c(a = 1, b = 2), list(x = 1, y = list("z", NULL)), factor(c("u", "v", "u")),
               matrix(1:6, 2), array(1:8, c(2, 2, 2)), as.Date("2024-02-29"), as.POSIXct(0, tz = "UTC", origin = "1970-01-01"), 3+2i, NULL, NA, Inf, character(0), "\u20ac\t\\")
for (v in values) {
    cat(toJSON(v), toJSON(v, auto_unbox = TRUE), toJSON(v, digits = 2, na = "null"), "\n")
}
d <- data.frame(n = c(1.25, 2), s = c("a", NA), b = c(TRUE, FALSE), stringsAsFactors = FALSE)
for (how in c("rows", "columns", "values")) cat(toJSON(d, dataframe = how), "\n")
cat(toJSON(d, pretty = TRUE), "\n")
cat(prettify('{"a":[1,{"b":null}]}', indent = 2), "\n")
cat(minify('{ "a" : [ 1 , 2 ] }'), "\n")
back <- fromJSON(toJSON(d))
print(identical(back, d))
print(all.equal(unserializeJSON(serializeJSON(list(a = 1:3, f = sin))), list(a = 1:3, f = sin)))
