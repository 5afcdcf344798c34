# jsonlite: what texts mean, and what is refused.
library(jsonlite)
texts <- c('[]', '{}', '[1,2,3]', '[1,"a",true,null]', '{"a":1,"b":[true,false]}', '[[1,2],[3,4]]', '[{"x":1,"y":"u"},{"x":2}]', '"only"',
           '-1.5e-3', '12345678901234567890', '"\\u00e9\\n\\ud83d\\ude00"', ' [ 1 , 2 ] ', '[1,]', '{"a"}', 'nul', '[1', '{"a":1,"a":2}', '')
for (t in texts) {
    cat("text", t, "\n")
    r <- tryCatch(fromJSON(t), error = function(e) cat("error:", strsplit(conditionMessage(e), "\n")[[1]][1], "\n"))
    if (!is.null(r)) str(r)
}
str(fromJSON('[[1,2],[3,4]]', simplifyVector = FALSE))
str(fromJSON('[{"a":{"b":1,"c":2}},{"a":{"b":3,"c":4}}]', flatten = TRUE))
print(validate(c('[1]')))
print(as.logical(validate('[1')))
