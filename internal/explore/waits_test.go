package explore

import (
	"fmt"
	"strings"
	"testing"

	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/state"
)

// A state that waits at a decision takes that decision next: another one, or its end, is an error that names both. A limit may cut it off.
func TestWaitingStateDecides(t *testing.T) {
	ctx := expr.New()
	a, b := ctx.Var("a", 1), ctx.Var("b", 1)
	for _, c := range []struct {
		name, want string
		does       func(x *Explorer, s *state.State)
	}{
		{"another decision", "waits at branch at 0x1234 for a value that others have not taken (1 have) comes to address at 0x5678", func(x *Explorer, s *state.State) { x.decide(s, exec.Address, 0x5678, b) }},
		{"its end", "waits at branch at 0x1234 for a value that others have not taken (1 have) comes to its end", func(x *Explorer, s *state.State) { x.end(s, End{Kind: Finished}) }},
		{"unsupported", "comes to its end", func(x *Explorer, s *state.State) { x.end(s, End{Kind: Unsupported}) }},
	} {
		s := &state.State{}
		s.Exclude(exec.Branch, 0x1234, a, 1)
		x := &Explorer{ctx: ctx}
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, c.want) {
					t.Errorf("%s: %s", c.name, got)
				}
			}()
			c.does(x, s)
		}()
	}
}
