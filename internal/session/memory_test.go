package session

import "testing"

// TestKeep: what is done about states at each limit, and one step beside it.
func TestKeep(t *testing.T) {
	const gb = 1 << 30
	thin := func(n int) keeping { return keeping{thin: n} }
	for _, c := range []struct {
		live, exprs uint64 // of a limit of 8 GB
		kept, ran   int
		want        keeping
	}{
		// As many as are worth it: some two for each that has run, between half of that and twice as many.
		{live: gb, kept: 2000, ran: 1000},
		{live: gb, kept: 1000, ran: 1000},
		{live: gb, kept: 999, ran: 1000, want: keeping{thicken: true}},
		{live: gb, kept: 4000, ran: 1000},
		{live: gb, kept: 4001, ran: 1000, want: thin(2000)},
		// At the beginning as many as in a run of 512.
		{live: gb, kept: 512, ran: 1},
		{live: gb, kept: 511, ran: 1, want: keeping{thicken: true}},
		{live: gb, kept: 2049, ran: 1, want: thin(1024)},
		// Memory is short: half go, but for few.
		{live: 4*gb - 1, kept: 2000, ran: 1000},
		{live: 4 * gb, kept: 2000, ran: 1000, want: thin(1000)},
		{live: 8 * gb, kept: 2000, ran: 1000, want: thin(1000)},
		{live: 4 * gb, kept: 100, ran: 1000, want: thin(64)},
		// Beyond the limit: nearly all go.
		{live: 8*gb + 1, kept: 2000, ran: 1000, want: keeping{thin: 125, over: true}},
		{live: 9 * gb, kept: 20, ran: 1000, want: keeping{thin: 4, over: true}},
		// Many expressions: the engine is replaced when states are not what takes the memory.
		{live: gb, exprs: 3 * gb, kept: 2000, ran: 1000},
		{live: 4 * gb, exprs: gb + 1, kept: 65, ran: 1000, want: thin(64)},
		{live: 4 * gb, exprs: gb + 1, kept: 64, ran: 1000, want: keeping{thin: 64, renew: true}},
		{live: 4 * gb, exprs: gb, kept: 64, ran: 1000, want: thin(64)},
		{live: 9 * gb, exprs: gb + 1, kept: 2000, ran: 1000, want: keeping{thin: 125, renew: true, over: true}},
	} {
		if got := keep(c.live, 8*gb, c.exprs, c.kept, c.ran); got != c.want {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}
