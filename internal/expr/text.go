package expr

import (
	"fmt"
	"strings"
)

// Text is roots as a list of definitions, operands first; constants and variables stand where they are used. The order depends on structure only, and what
// a line shows is its width in bits, its kind and its operands.
//
//	%1:8 = add s[0] 0x9f
//	%2:1 = bvult %1 0x1a
//	root 0: %2
func (c *Ctx) Text(roots []Ref) string {
	var b strings.Builder
	names, defined := map[Ref]string{}, 0
	c.postorder(roots, func(r Ref) {
		switch v, isConst := c.IsConst(r); {
		case isConst:
			names[r] = fmt.Sprintf("%#x", v)
			return
		case c.Kind(r) == Var:
			names[r] = c.VarName(c.VarOf(r))
			return
		}
		defined++
		names[r] = fmt.Sprintf("%%%d", defined)
		fmt.Fprintf(&b, "%s:%d = %s", names[r], c.Width(r), c.Kind(r))
		for i := range kinds[c.Kind(r)].Arity {
			b.WriteString(" " + names[c.operand(r, i)])
		}
		switch c.Kind(r) {
		case Extract:
			fmt.Fprintf(&b, " from bit %d", c.Lo(r))
		case Select:
			fmt.Fprintf(&b, " of %#x", c.Table(r))
		}
		b.WriteByte('\n')
	})
	for i, r := range roots {
		fmt.Fprintf(&b, "root %d: %s\n", i, names[r])
	}
	return b.String()
}
