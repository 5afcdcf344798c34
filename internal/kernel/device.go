package kernel

import "symchef/internal/mem"

// The guest device, docs/device-protocol.md: a write is a request, which
// Syscall returns as an Outcome; the engine's answer is what the next read of
// the same open file returns.

// DeviceReply answers the last device request. Require: the last Outcome was Device.
func (s *System) DeviceReply(reply []byte) {
	if f := s.files.get(s.device); f != nil && f.Kind == fileDevice {
		s.file(s.device).Text = join(f.Text, mem.Concrete(reply))
	}
}
