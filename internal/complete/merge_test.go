package complete

import (
	"os"
	"testing"
)

// With merging the paths account for every input, too. SYMCHEF_SLOW makes it all programs.
func TestMerged(t *testing.T) {
	c, python, lua := "^(atoi|divide|memcmp|strings|strtol|switch)-", "^(dict_str|int_digit)$", "number_base"
	if os.Getenv("SYMCHEF_SLOW") != "" {
		c, python, lua = *only, *only, *only
	}
	t.Run("C", func(t *testing.T) { testC(t, c, true) })
	t.Run("Python", func(t *testing.T) { testPython(t, python, true) })
	t.Run("Lua", func(t *testing.T) { testLua(t, lua, true) })
}
