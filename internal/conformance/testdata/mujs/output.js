// Megabytes of output.
for (var i = 0; i < 20000; i++) print(i, i * i, "text"); var s = "0123456789"; for (var i = 0; i < 14; i++) s += s; print(s); for (var i = 0; i < 500; i++) write(i, ";"); print(); print(new Array(20000).join("xy"));
