package high

import (
	"encoding/json"
	"io"
	"testing"
)

// FuzzDoc draws damaged trees.
func FuzzDoc(f *testing.F) {
	f.Add([]byte(`{"codes":["00"],"nodes":[{"parent":-1,"steps":1,"first":{"code":0,"offset":0},"last":{"code":0,"offset":2},"low":1,"ends":[{"after":1,"outcome":"ok","low":1}]},{"parent":0,"steps":2,"first":{"code":0,"offset":4},"last":{"code":0,"offset":6},"low":1}]}`))
	f.Add([]byte(`{"nodes":[{"parent":5,"first":{"code":9}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var d Doc
		if json.Unmarshal(data, &d) != nil {
			return
		}
		d.WriteText(io.Discard)
		d.WriteDot(io.Discard)
		d.WriteSVG(io.Discard)
	})
}
