package guest

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// SignalName is the one name of a signal: that of signal(7), of real-time signals SIG and the number.
func SignalName(n int) string {
	if s := unix.SignalName(unix.Signal(n)); s != "" {
		return s
	}
	return fmt.Sprintf("SIG%d", n)
}

// SignalNumber is the number of what SignalName names, 0 of everything else.
func SignalNumber(name string) int {
	for n := 1; n <= 64; n++ {
		if SignalName(n) == name {
			return n
		}
	}
	return 0
}
