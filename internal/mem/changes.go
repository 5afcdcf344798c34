package mem

// Change is what has made translations of addresses to granules stale that a caller keeps: the granule at that address, or more.
type Change uint64

// The changes that are no granule's address.
const (
	// WritesStale: no granule may be written through a translation. A fork has frozen them all; what they hold is what it was.
	WritesStale Change = 1 + iota
	// AllStale: no translation is good.
	AllStale
)

// remembered is how many changes a space can tell apart.
const remembered = 16

// changes counts changes and remembers the latest.
type changes struct {
	n    uint64
	last [remembered]Change // the n-th at n modulo remembered
}

func (c *changes) add(x Change) {
	c.last[c.n%remembered] = x
	c.n++
}

// since appends the changes from the n-th on.
func (c *changes) since(n uint64, list []Change) []Change {
	if c.n-n > remembered {
		return append(list, AllStale)
	}
	for ; n < c.n; n++ {
		list = append(list, c.last[n%remembered])
	}
	return list
}

// Version is how often a space and its objects have changed. It differs whenever a cached translation may be stale.
type Version struct{ own, objects uint64 }

// Version returns the present one.
func (s *Space) Version() (v Version) {
	v.own = s.changes.n
	if s.Objects != nil {
		v.objects = s.Objects.changes.n
	}
	return v
}

// Stale appends what has become stale since the space had version v.
func (s *Space) Stale(v Version, list []Change) []Change {
	list = s.changes.since(v.own, list)
	if s.Objects == nil {
		return list
	}
	n := len(list)
	list = s.Objects.changes.since(v.objects, list)
	for i, c := range list[n:] {
		if c != WritesStale {
			list[n+i] = AllStale // several areas may show the granule
		}
	}
	return list
}
