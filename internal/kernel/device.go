package kernel

import (
	"bytes"

	"symchef/internal/mem"
)

// The guest device, docs/device-protocol.md: a write is a request, which
// Syscall returns as an Outcome; the engine's answer is what the next reads of
// the same open file return.

// DevicePath is where the device stands.
const DevicePath = "/dev/symchef"

// DeviceReply answers the last device request. Require: the last Outcome was Device.
func (s *System) DeviceReply(reply mem.Bytes) {
	if f := s.files.get(s.device); f != nil && f.Kind == fileDevice {
		s.file(s.device).Text = join(f.Text, reply)
	}
}

// requestLine reports whether a request's line is concrete; the text behind it need not be.
func requestLine(b mem.Bytes) bool {
	n := bytes.IndexByte(b.Data, '\n') + 1
	if n == 0 {
		n = len(b.Data)
	}
	return b.Slice(0, n).IsConcrete()
}
