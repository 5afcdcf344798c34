package expr

type supportStore struct{}

func (s *supportStore) bytes() uint64 { return 0 }
