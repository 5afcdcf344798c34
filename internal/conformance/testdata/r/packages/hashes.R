# digest: known answers of each algorithm, of text and of files.
library(digest)
texts <- c("", "a", "abc", "message digest", paste(rep("1234567890", 8), collapse = ""))
for (algo in c("md5", "sha1", "crc32", "sha256", "sha512", "xxhash32", "xxhash64", "murmur32", "spookyhash", "blake3")) {
    for (t in texts) {
        r <- tryCatch(digest(t, algo = algo, serialize = algo == "spookyhash"), error = function(e) "error")
        cat(algo, nchar(t), r, "\n")
    }
}
cat("file contents\n", file = "f.txt")
for (algo in c("md5", "sha1", "sha256", "xxhash64")) cat(algo, digest("f.txt", algo = algo, file = TRUE), digest(file = "f.txt", algo = algo, length = 4), "\n")
print(digest("abc", "sha1", serialize = FALSE, raw = TRUE))
print(sha1(c(1.5, NA)))
print(hmac("key", "The quick brown fox jumps over the lazy dog", "sha256"))
print(makeRaw("hex"))
print(digest2int("abc", 3L))
