package main

import "testing"

// The tree shows the text of the line where paths part, and which way each went; of a program, the decisions of its test cases.
func TestTreeText(t *testing.T) {
	b := pythonBox(t)
	b.write("test_t.py", "import symchef\n\ndef test_t(n: symchef.Int(0, 9)):\n    if n == 3:\n        raise KeyError(n)\n    while n > 6:\n        n -= 2\n    return\n")
	b.run("run", "--out", "t", "test_t.py").want(1)
	b.run("tree", "t").want(0, "test_t.py:4 test_t  if n == 3:  (", "true: test_t.py:5 test_t  raise KeyError(n)  (", "false: test_t.py:6 test_t  while n > 6:  (", "exception KeyError  (")
	b.run("tree", "--format", "svg", "t").want(0, "if n == 3:")
	b.compile("p", "#include <stdio.h>\n#include <stdlib.h>\nint main() {\n\tif (getchar() == 'x') abort();\n\treturn 0; }", "-g")
	b.run("run", "--out", "p.d", "--stdin", "1", "--", "./p").want(1)
	b.run("tree", "p.d").want(0, "p.c:4 main  if (getchar() == 'x') abort();", "taken: ", "not taken: ", "crash SIGABRT  (1 low-level)  t0000")
}
