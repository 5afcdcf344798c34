package seed

import (
	"testing"
)

// Of depends on the name of the test alone, until the environment says otherwise.
func TestOf(t *testing.T) {
	t.Setenv("SYMCHEF_SEED", "")
	first := Of(t)
	if again := Of(t); again != first || Rand(t).Uint64() != Rand(t).Uint64() {
		t.Errorf("the second seed is %#x, not %#x", again, first)
	}
	t.Run("another", func(t *testing.T) {
		if Of(t) == first {
			t.Error("two tests have one seed")
		}
	})
	for text, want := range map[string]uint64{"7": 7, "0xffffffffffffffff": 1<<64 - 1} {
		if t.Setenv("SYMCHEF_SEED", text); Of(t) != want {
			t.Errorf("SYMCHEF_SEED=%s gives another seed", text)
		}
	}
	t.Setenv("SYMCHEF_SEED", "random")
	if one, other := Of(t), Of(t); one == other {
		t.Error("random seeds are the same")
	}
}
