# digest: objects, and AES.
library(digest)
objects <- list(1:10, c(a = 1), list(x = "y"), data.frame(a = 1:2), factor("u"), quote(f(x)), NULL, TRUE)
for (o in objects) cat(class(o), digest(o), digest(o, "sha256"), "\n")
print(digest(1:10) == digest(as.integer(1:10)))
print(digest(1:10) == digest(as.numeric(1:10)))
v <- getVDigest("md5")
print(v(c("a", "b", "a"), serialize = FALSE))
key <- as.raw(1:16)
for (mode in c("ECB", "CBC", "CTR")) {
    iv <- if (mode == "ECB") NULL else as.raw(101:116)
    c1 <- AES(key, mode, iv)$encrypt(as.raw(1:32))
    print(c1)
    print(identical(AES(key, mode, iv)$decrypt(c1, raw = TRUE), as.raw(1:32)))
}
print(sha1(list(a = 1, b = "z"), digits = 5))
