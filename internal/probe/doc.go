// Package probe finds out what functions of a program do, and where its objects keep what, by calling them in the machine: on arguments of
// known content, each in a copy of the process. What it finds depends on no version and no compiler.
//
//	p, err := probe.Start(cfg, "/usr/bin/vm") // stopped at the program's entry: libraries are relocated, main has not begun
//	image, err := p.Open("/usr/bin/vm")
//	state, err := p.Call(image.Export("vm_new"))
//	bytes, err := p.Call(image.Export("vm_push_text"), state, p.Put([]byte("abc")), 3)
//
//	for _, fn := range image.Functions {          // behaviour: which function does the same?
//		q := p.Fork()
//		got, err := q.Call(fn.Lo, ...)
//		...
//	}
//
// Nothing of the host changes, whatever a function does with arguments that are not meant for it: it runs in the machine, on a copy, for so
// many instructions. So all functions of an image can be tried.
package probe
