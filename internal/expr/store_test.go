package expr_test

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"symchef/internal/expr"
	"symchef/internal/seed"
)

// forest returns random trees over shared variables.
func forest(s uint64, n int) []*tree {
	g := &generator{r: rand.New(rand.NewPCG(s, 2))}
	var trees []*tree
	for range n {
		trees = append(trees, g.tree(g.width(), 1+g.r.IntN(6)))
	}
	return trees
}

func buildAll(c *expr.Ctx, trees []*tree) []expr.Ref {
	var refs []expr.Ref
	for _, t := range trees {
		refs = append(refs, t.build(c))
	}
	return refs
}

// TestOrderIndependence builds the same trees in two orders and expects one
// serial form: nothing depends on Ref numbers.
func TestOrderIndependence(t *testing.T) {
	s := seed.Of(t)
	for i := range uint64(300) {
		trees := forest(s+i, 12)
		one, two := expr.New(), expr.New()
		refs := buildAll(one, trees)
		// Another history: constants and variables first, trees backward.
		for w := range uint(64) {
			two.Const(uint64(w), w+1)
			two.Var("unused", 9)
		}
		back := slices.Clone(trees)
		slices.Reverse(back)
		others := buildAll(two, back)
		slices.Reverse(others)
		if !bytes.Equal(one.Marshal(refs), two.Marshal(others)) {
			t.Fatalf("SYMCHEF_SEED=%#x: serial forms differ", s+i)
		}
		for j := range refs {
			if one.Hash(refs[j]) != two.Hash(others[j]) {
				t.Fatalf("SYMCHEF_SEED=%#x: hashes of tree %d differ", s+i, j)
			}
		}
	}
}

func TestMarshalRoundTrip(t *testing.T) {
	s := seed.Of(t)
	for i := range uint64(200) {
		c := expr.New()
		refs := append(buildAll(c, forest(s+i, 8)), 0)
		data := c.Marshal(refs)
		again, err := expr.Unmarshal(c, data)
		if err != nil || !slices.Equal(again, refs) {
			t.Fatalf("SYMCHEF_SEED=%#x: into the same Ctx: %v, %v, not %v", s+i, again, err, refs)
		}
		fresh := expr.New()
		moved, err := expr.Unmarshal(fresh, data)
		if err != nil || !bytes.Equal(fresh.Marshal(moved), data) {
			t.Fatalf("SYMCHEF_SEED=%#x: into a fresh Ctx: %v", s+i, err)
		}
		for range 40 { // corrupt input: an error or something well formed
			bad := bytes.Clone(data)
			r := rand.New(rand.NewPCG(s, i))
			bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
			d := expr.New()
			if refs, err := expr.Unmarshal(d, bad[:len(bad)-r.IntN(2)]); err == nil {
				d.Marshal(refs)
			}
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for i := range uint64(8) {
		c := expr.New()
		f.Add(c.Marshal(buildAll(c, forest(i, 4))))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := expr.New()
		refs, err := expr.Unmarshal(c, data)
		if err != nil {
			return
		}
		again, err := expr.Unmarshal(c, c.Marshal(refs))
		if err != nil || !slices.Equal(again, refs) {
			t.Fatalf("%v, %v, not %v", again, err, refs)
		}
	})
}

func TestCopy(t *testing.T) {
	s := seed.Of(t)
	for i := range uint64(200) {
		trees := forest(s+i, 8)
		src := expr.New()
		refs := append(buildAll(src, trees), 0)
		dst := expr.New()
		moved := src.Copy(dst, refs[4:])
		if !bytes.Equal(src.Marshal(refs[4:]), dst.Marshal(moved)) {
			t.Fatalf("SYMCHEF_SEED=%#x: the copy differs", s+i)
		}
		if dst.Len() > src.Len() {
			t.Fatalf("SYMCHEF_SEED=%#x: the copy of a part has %d nodes, all of it %d", s+i, dst.Len(), src.Len())
		}
		for v := range src.NumVars() {
			if src.VarName(expr.VarID(v)) != dst.VarName(expr.VarID(v)) {
				t.Fatalf("SYMCHEF_SEED=%#x: variable %d changed", s+i, v)
			}
		}
		// Constructors find the copied nodes in normal form.
		for j, tr := range trees[4:] {
			if got := tr.build(dst); got != moved[j] {
				t.Fatalf("SYMCHEF_SEED=%#x: rebuilt %v is another node", s+i, tr)
			}
		}
	}
}

func TestSupport(t *testing.T) {
	s := seed.Of(t)
	for i := range uint64(200) {
		c := expr.New()
		for _, tr := range forest(s+i, 10) {
			r := tr.build(c)
			// The oracle: walk the graph.
			want := map[expr.VarID]bool{}
			seen := map[expr.Ref]bool{}
			var walk func(expr.Ref)
			walk = func(r expr.Ref) {
				if seen[r] {
					return
				}
				seen[r] = true
				if c.Kind(r) == expr.Var {
					want[c.VarOf(r)] = true
				}
				for j := range c.Kind(r).Arity() {
					walk([]expr.Ref{c.A(r), c.B(r), c.C(r)}[j])
				}
			}
			walk(r)
			got := c.SupportSet(r)
			c.Support(r, func(v expr.VarID) {
				if !want[v] || !got.Has(v) {
					t.Fatalf("SYMCHEF_SEED=%#x: %v does not depend on %s", s+i, tr, c.VarName(v))
				}
			})
			if got.Len() != len(want) {
				t.Fatalf("SYMCHEF_SEED=%#x: %v depends on %d variables, not %d", s+i, tr, len(want), got.Len())
			}
		}
	}
}

func TestSupportOfManyVariables(t *testing.T) {
	c := expr.New()
	sum := c.Const(0, 8)
	for i := range 300 {
		sum = c.Add(sum, c.Var(string(rune('a'+i)), 8))
		if n := c.SupportSet(sum).Len(); n != i+1 {
			t.Fatalf("sum of %d depends on %d", i+1, n)
		}
	}
	x, y := c.SupportSet(c.VarRef(3)), c.SupportSet(c.VarRef(299))
	if x.Overlaps(y) || !y.Overlaps(c.SupportSet(sum)) || c.SupportID(c.VarRef(3)) == c.SupportID(c.VarRef(299)) {
		t.Error("wrong overlap")
	}
}

func TestConjuncts(t *testing.T) {
	c := expr.New()
	a, b, d := c.Var("a", 8), c.Var("b", 8), c.Var("d", 1)
	k := func(v uint64) expr.Ref { return c.Const(v, 8) }
	r := c.And(c.And(c.Ne(a, k(1)), c.Ne(b, k(2))), c.And(d, c.Eq(c.Add(a, b), k(9))))
	parts := c.Conjuncts(nil, r)
	if len(parts) != 4 {
		t.Fatalf("%d parts", len(parts))
	}
	all := c.Const(1, 1)
	for _, p := range parts {
		all = c.And(all, p)
	}
	for v := range uint64(1 << 17) {
		as := expr.Assignment{v & 255, v >> 8 & 255, v >> 16}
		if c.Eval(r, as) != c.Eval(all, as) {
			t.Fatalf("differ under %v", as)
		}
	}
	if n := len(c.Conjuncts(nil, c.Const(1, 1))); n != 0 {
		t.Errorf("true has %d parts", n)
	}
	if n := len(c.Conjuncts(nil, c.Const(0, 1))); n != 1 {
		t.Errorf("false has %d parts", n)
	}
}

// TestStoreAndLoad takes values apart as memory does and puts them together:
// the value comes back as the same node.
func TestStoreAndLoad(t *testing.T) {
	s := seed.Of(t)
	same, all := 0, 0
	for i := range uint64(3000) {
		g := &generator{r: rand.New(rand.NewPCG(s+i, 3))}
		w := []uint{16, 32, 64}[g.r.IntN(3)]
		c := expr.New()
		v := g.tree(w, 1+g.r.IntN(4)).build(c)
		var up, down expr.Ref
		for at := uint(0); at < w; at += 8 {
			lowByte, highByte := c.Extract(v, at, 8), c.Extract(v, w-8-at, 8)
			if at == 0 {
				up, down = lowByte, highByte
			} else {
				up, down = c.Concat(lowByte, up), c.Concat(down, highByte)
			}
		}
		all += 2
		same += b2i(up == v) + b2i(down == v)
	}
	t.Logf("%d of %d values come back as the same node", same, all)
	if same*100 < all*95 {
		t.Errorf("less than 95 %%")
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestOperandOrder checks the deep order behind hash ties.
func TestOperandOrder(t *testing.T) {
	c := expr.New()
	refs := buildAll(c, forest(seed.Of(t), 60))
	for _, a := range refs {
		for _, b := range refs {
			ab, ba := c.Compare(a, b), c.Compare(b, a)
			if ab != -ba || (ab == 0) != (a == b) {
				t.Fatalf("%d and %d: %d, %d", a, b, ab, ba)
			}
		}
	}
}

// TestNodeLayout: the garbage collector never looks into the arena.
func TestNodeLayout(t *testing.T) {
	n := reflect.TypeOf(expr.NodeType())
	if n.Size() != 24 {
		t.Errorf("a node is %d bytes", n.Size())
	}
	for i := range n.NumField() {
		switch k := n.Field(i).Type.Kind(); k {
		case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		default:
			t.Errorf("field %s is a %v", n.Field(i).Name, k)
		}
	}
}
