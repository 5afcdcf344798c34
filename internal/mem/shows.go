package mem

// Shows reports whether a part of s is an object that other spaces may show, too.
func (s *Space) Shows() bool { return len(s.shows) > 0 }
