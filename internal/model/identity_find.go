package model

import (
	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/ir"
	"symchef/internal/mem"
)

// Strings with an identity: how a table finds a key.

// get is f(table=rdi, key=rsi), key a tagged value: the address of the value under it.
func (d *deferred) get(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RSI); stop != nil {
		return false, stop
	}
	k, ok, stop := d.key(m, c, s, c.R[ir.RSI])
	if !ok || stop != nil {
		return false, stop
	}
	return d.found(m, c, s, k)
}

// getString is get where key is the string itself.
func (d *deferred) getString(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RSI); stop != nil {
		return false, stop
	}
	kind, err := s.ReadU(c.R[ir.RSI]+8, 1)
	k, ok := d.text(s, c.R[ir.RSI])
	if err != nil || kind != d.n["kind"] || !ok {
		return false, nil
	}
	return d.found(m, c, s, k)
}

func (d *deferred) found(m *exec.Machine, c *cpu.CPU, s *mem.Space, k text) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RDI); stop != nil {
		return false, stop
	}
	node, stop := d.lookup(m, s, c, c.R[ir.RDI], k)
	if node == 0 || stop != nil {
		return false, stop
	}
	return ret(c, s, node), nil // a node begins with the value
}

// next is f(state, table=rsi, key=rdx), which looks for the key's address: it gets that of the table's own key.
func (d *deferred) next(m *exec.Machine, c *cpu.CPU, s *mem.Space) (bool, *exec.Stop) {
	if stop := fix(m, c, ir.RSI, ir.RDX); stop != nil {
		return false, stop
	}
	k, ok, stop := d.key(m, c, s, c.R[ir.RDX])
	if !ok || stop != nil {
		return false, stop
	}
	node, stop := d.lookup(m, s, c, c.R[ir.RSI], k)
	if node == 0 || stop != nil {
		return false, stop
	}
	if own, err := s.ReadU(node+d.n["key"], 8); err == nil {
		_ = s.WriteU(c.R[ir.RDX], own, 8) // fails as the function itself will
	}
	return false, nil
}

// lookup is the node of the table's key that has the content of k and is another object; 0: there is none.
func (d *deferred) lookup(m *exec.Machine, s *mem.Space, c *cpu.CPU, table uint64, k text) (uint64, *exec.Stop) {
	nodes, err1 := s.ReadU(table+d.n["nodes"], 8)
	log, err2 := s.ReadU(table+d.n["log"], 1)
	if err1 != nil || err2 != nil || log > 30 {
		return 0, nil
	}
	var like []uint64 // nodes whose keys may have the content
	see := func(node uint64) (own bool) {
		if tag, err := s.ReadU(node+d.n["key-tag"], 1); err != nil || tag != d.n["tag"] {
			return false
		}
		at, err := s.ReadU(node+d.n["key"], 8)
		if err != nil || at == k.at {
			return err == nil
		}
		if t, ok := d.text(s, at); ok && t.n == k.n && (t.deferred || k.deferred) {
			like = append(like, node)
		}
		return false
	}
	size := d.n["node-bytes"]
	if k.deferred {
		for i := range uint64(1) << log {
			if see(nodes + i*size) {
				return 0, nil
			}
		}
	} else {
		for node := nodes + deferredHash&(1<<log-1)*size; node != 0; node = d.after(s, node) {
			if see(node) {
				return 0, nil
			}
		}
	}
	for _, node := range like {
		at, _ := s.ReadU(node+d.n["key"], 8)
		_, cond, ok := d.same(m, s, k, text{at: at})
		if !ok {
			continue
		}
		yes, stop := m.Holds(c, cond)
		if stop != nil {
			return 0, stop
		}
		if yes {
			return node, nil
		}
	}
	return 0, nil
}

// after is the node behind another in its chain; 0: it is the last.
func (d *deferred) after(s *mem.Space, node uint64) uint64 {
	if off, ok := d.n["next-address"]; ok {
		v, _ := s.ReadU(node+off, 8)
		return v
	}
	v, err := s.ReadU(node+d.n["next"], 4)
	if err != nil || v == 0 {
		return 0
	}
	return node + uint64(int64(int32(v)))*d.n["node-bytes"]
}
