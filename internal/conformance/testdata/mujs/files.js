// Reading files, loading code, arguments.
// args: one two
var t = read("/etc/passwd"); var h = 0; for (var i = 0; i < t.length; i++) h = (h * 31 + t.charCodeAt(i)) | 0; print(t.length, h, scriptArgs); try { read("/no/such"); } catch (e) { print(e); } try { load("/no/such.js"); } catch (e) { print(e); } write("no newline "); write(1, 2, "\n"); print(typeof gc, typeof compile, typeof readline); gc();
