package expr_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/mutate/image"
	"symchef/internal/smtlib"
)

// TestImage writes what the constructors make: of the terms of all rules at all widths, of all shapes of two
// operators, of random trees.
func TestImage(t *testing.T) {
	out := image.New(t)
	form := func(c *expr.Ctx, name string, r expr.Ref) {
		out.Form(name, smtlib.Print(c, nil, smtlib.Definition{Name: "out.0", Value: wide(c, r)}))
	}
	for w := uint(1); w <= 64; w++ {
		for _, row := range ruleRows {
			for _, s := range []string{row.hit, row.miss} {
				if tr := parseTree(s, w); tr != nil {
					c := expr.New()
					form(c, fmt.Sprintf("%s %s %d", row.name, s, w), tr.build(c))
				}
			}
		}
	}
	for _, w := range []uint{1, 2, 8, 64} {
		c := expr.New()
		image.Over(c, image.Variable(c, w), func(s image.Shape) {
			form(c, fmt.Sprintf("%s %d", s.Name, w), s.Ref)
			image.Over(c, s, func(s image.Shape) { form(c, fmt.Sprintf("%s %d", s.Name, w), s.Ref) })
		})
	}
	g := &generator{r: rand.New(rand.NewPCG(1, 2))}
	for i := range 20000 {
		if i%10 == 0 {
			g.pool = nil
		}
		tr := g.tree(g.width(), 4)
		c := expr.New()
		form(c, tr.String(), tr.build(c))
	}
}

// wide returns r, of more than a bit.
func wide(c *expr.Ctx, r expr.Ref) expr.Ref {
	if c.Width(r) == 1 {
		return c.ZExt(r, 8)
	}
	return r
}
