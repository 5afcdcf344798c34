# base64enc: all lengths and bytes, lines, files, URIs, odd input.
library(base64enc)
all <- as.raw(0:255)
for (n in c(0:10, 255, 256)) {
    b <- all[seq_len(n)]
    s <- base64encode(b)
    cat(n, s, identical(base64decode(s), b), "\n")
}
cat(base64encode(all, linewidth = 60, newline = "\n"), "\n")
print(base64encode(all, linewidth = 100))
f <- "bytes.bin"
writeBin(all, f)
print(base64encode(f) == base64encode(all))
print(base64decode("aGVs\nbG8=\n"))
print(rawToChar(base64decode("aGVsbG8")))
print(dataURI(charToRaw("<b>"), mime = "text/html"))
print(checkUTF8(charToRaw("ok")))
print(tryCatch(base64decode(12), error = function(e) "error"))
set.seed(4)
r <- as.raw(sample(0:255, 5000, TRUE))
print(identical(base64decode(base64encode(r)), r))
