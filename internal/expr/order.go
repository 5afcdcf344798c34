package expr

import (
	"cmp"
	"slices"
	"strings"
)

// less orders expressions by structure: by hash, ties by comparing deeply.
func (c *Ctx) less(a, b Ref) bool {
	if a == b {
		return false
	}
	if ha, hb := c.Hash(a), c.Hash(b); ha != hb {
		return ha < hb
	}
	return c.compare(a, b) < 0
}

// compare orders a and b by their structure, without their hashes.
func (c *Ctx) compare(a, b Ref) int {
	if a == b {
		return 0
	}
	x, y := c.at(a), c.at(b)
	if r := cmp.Or(cmp.Compare(x.kind, y.kind), cmp.Compare(x.width, y.width), cmp.Compare(x.aux, y.aux)); r != 0 {
		return r
	}
	switch x.kind {
	case Const:
		return cmp.Or(cmp.Compare(x.b, y.b), cmp.Compare(x.a, y.a))
	case Var:
		return strings.Compare(c.vars[x.a].name, c.vars[y.a].name)
	case Select:
		if r := slices.Compare(c.tables[x.b].vals, c.tables[y.b].vals); r != 0 {
			return r
		}
		return c.compare(Ref(x.a), Ref(y.a))
	}
	if r := c.compare(Ref(x.a), Ref(y.a)); r != 0 {
		return r
	}
	if kinds[x.kind].Arity > 1 {
		if r := c.compare(Ref(x.b), Ref(y.b)); r != 0 {
			return r
		}
	}
	if kinds[x.kind].Arity > 2 {
		return c.compare(Ref(x.c), Ref(y.c))
	}
	return 0
}
