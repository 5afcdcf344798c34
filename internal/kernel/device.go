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

// deviceFile is an open guest device.
type deviceFile struct{ plainKind }

func (deviceFile) read(c *call, i int, f *file, _ int64, n int) (mem.Bytes, error) {
	n = min(n, len(f.Text.Data))
	b, rest := f.Text.Slice(0, n), f.Text.Slice(n, len(f.Text.Data))
	c.s.file(i).Text = rest
	return b, nil
}

func (deviceFile) write(c *call, i int, _ *file, _ int64, b mem.Bytes) (uint64, error) {
	c.s.device = i
	return uint64(len(b.Data)), deviceRequest(b)
}

func (deviceFile) takes(_ *System, f *file) uint64 { return uint64(len(f.Text.Data)) }

func (deviceFile) step(c *call, x fileCall) {
	c.s.order.write(c.t.strand, "device", c.step(x.name, "the test's device"))
	c.s.order.shows(c.t.strand)
}

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
