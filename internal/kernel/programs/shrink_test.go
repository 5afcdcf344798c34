package programs

// shrink makes p smaller as long as fails holds: fewer steps, then simpler arguments.
func shrink(p program, fails func(program) bool) program {
	for again := true; again; {
		again = false
		for n := p.steps() / 2; n >= 1; n /= 2 {
			for i := 0; i+n <= p.steps(); {
				q := p.without(func(k int) bool { return k >= i && k < i+n }).started()
				if fails(q) {
					p, again = q, true
				} else {
					i += n
				}
			}
		}
		for i := 0; i < p.steps(); i++ {
			for k, a := range p.step(i).args {
				for _, b := range simpler(p.step(i), k, a) {
					q := p.with(i, k, b)
					if fails(q) {
						p, again = q, true
						break
					}
				}
			}
		}
	}
	return p
}

// with returns p with argument k of step i replaced.
func (p program) with(i, k int, a any) program {
	q := p.rewrite(func(a any) any { return a })
	for _, t := range q {
		if i < len(t) {
			t[i].args[k] = a
			break
		}
		i -= len(t)
	}
	return q
}

// simpler are simpler values of an argument.
func simpler(s step, k int, a any) (out []any) {
	if s.spawns() {
		return nil
	}
	switch v := a.(type) {
	case int:
		if v != 0 {
			out = append(out, 0)
		}
		for bit := 1; bit > 0 && bit <= v; bit <<= 1 {
			if v&bit != 0 && v != bit {
				out = append(out, v&^bit)
			}
		}
	case str:
		if len(v) > 1 && v[0] != '/' { // the names of devices: nothing else outside the folder is to be touched
			out = append(out, v[:1], v[:len(v)/2])
		}
	case rec:
		out = append(out, 0)
		for i, f := range v {
			for _, b := range simplerField(f) {
				r := append(rec(nil), v...)
				r[i] = b
				out = append(out, r)
			}
		}
	case buf, at:
		out = append(out, 0)
	}
	return out
}

func simplerField(f any) []any {
	switch v := f.(type) {
	case uint16:
		if v != 0 {
			return []any{uint16(0)}
		}
	case uint32:
		if v != 0 {
			return []any{uint32(0)}
		}
	case uint64:
		if v != 0 {
			return []any{uint64(0)}
		}
	case sym, str, buf, rec:
		return []any{uint64(0)}
	}
	return nil
}
