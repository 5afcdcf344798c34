package expr

// The rewrite rules. Each returns 0 where none applies.

func (c *Ctx) rewrite1(k Kind, a Ref) Ref {
	if (k == Not || k == Neg) && c.Kind(a) == k {
		return c.A(a)
	}
	return 0
}

func (c *Ctx) rewrite2(k Kind, a, b Ref) Ref                    { return 0 }
func (c *Ctx) rewriteIte(cond, a, b Ref) Ref                    { return 0 }
func (c *Ctx) rewriteConcat(hi, lo Ref) Ref                     { return 0 }
func (c *Ctx) rewriteExtract(a Ref, lo, w uint) Ref             { return 0 }
func (c *Ctx) rewriteExtend(k Kind, a Ref, w uint) Ref          { return 0 }
func (c *Ctx) rewriteSelect(vals []uint64, idx Ref, w uint) Ref { return 0 }
