package sat

// The heap holds open cone variables, the most active first; equal activities
// are ordered by number, so the order never depends on the heap's history.

func (s *Solver) before(a, b Var) bool {
	return s.act[a] > s.act[b] || s.act[a] == s.act[b] && a < b
}

func (s *Solver) heapInsert(v Var) {
	s.heap = append(s.heap, v)
	s.up(len(s.heap) - 1)
}

func (s *Solver) up(i int) {
	v := s.heap[i]
	for i > 0 {
		p := (i - 1) / 2
		if !s.before(v, s.heap[p]) {
			break
		}
		s.heap[i] = s.heap[p]
		s.pos[s.heap[i]] = int32(i)
		i = p
	}
	s.heap[i] = v
	s.pos[v] = int32(i)
}

func (s *Solver) down(i int) {
	v := s.heap[i]
	for {
		k := 2*i + 1
		if k >= len(s.heap) {
			break
		}
		if k+1 < len(s.heap) && s.before(s.heap[k+1], s.heap[k]) {
			k++
		}
		if !s.before(s.heap[k], v) {
			break
		}
		s.heap[i] = s.heap[k]
		s.pos[s.heap[i]] = int32(i)
		i = k
	}
	s.heap[i] = v
	s.pos[v] = int32(i)
}

func (s *Solver) heapPop() Var {
	v := s.heap[0]
	s.pos[v] = -1
	last := s.heap[len(s.heap)-1]
	s.heap = s.heap[:len(s.heap)-1]
	if len(s.heap) > 0 {
		s.heap[0] = last
		s.down(0)
	}
	return v
}

// setCone makes cone the set of variables to decide.
func (s *Solver) setCone(cone []Var) {
	for _, v := range s.heap {
		s.pos[v] = -1
	}
	s.heap = s.heap[:0]
	s.relGen++
	for _, v := range cone {
		if s.rel[v] == s.relGen {
			continue
		}
		s.rel[v] = s.relGen
		if s.vals[v.Pos()] == 0 {
			s.pos[v] = int32(len(s.heap))
			s.heap = append(s.heap, v)
		}
	}
	for i := len(s.heap)/2 - 1; i >= 0; i-- {
		s.down(i)
	}
}

func (s *Solver) bump(v Var) {
	s.act[v] += s.actInc
	if s.act[v] > 1e100 {
		for i := range s.act {
			s.act[i] *= 1e-100
		}
		s.actInc *= 1e-100
	}
	if s.pos[v] >= 0 {
		s.up(int(s.pos[v]))
	}
}
