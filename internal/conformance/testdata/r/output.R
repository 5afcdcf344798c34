# Much output.
for (i in 1:3000) cat(i, i * i, "text\n"); print(1:2000); cat(strrep("0123456789", 20000), "\n"); write(strrep("e", 50000), stderr()); print(matrix(1:400, 20)); invisible(sapply(1:300, function(i) cat(i, ";")))
