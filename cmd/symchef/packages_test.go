package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestPackages: packages of Debian with code for several processors, imported and used, give in the machine what they give natively. Results
// are exact on any processor, since the native run may take other code.
func TestPackages(t *testing.T) {
	program, err := exec.LookPath(python)
	if err != nil {
		t.Skipf("skipped: %s is not installed", python)
	}
	for _, c := range []struct {
		name   string
		slow   bool
		script string
	}{
		{"numpy", false, `
import numpy as np
a = np.arange(12.).reshape(3, 4)
print(a @ a.T, np.sort(np.array([3, 1, 2, -128, 127], dtype=np.int8)), np.floor(a / 4).sum(), np.linalg.det(np.eye(3) * 2))
print(np.arange(1000, dtype=np.int32).cumsum()[-1], np.maximum(np.arange(9), 4), np.packbits(np.arange(16) % 3 == 0), (a > 5).sum())
`},
		{"PIL", false, `
from PIL import Image
im = Image.new("RGB", (16, 16), (10, 200, 30))
im.putpixel((3, 4), (255, 0, 0))
print(im.rotate(90).convert("L").tobytes().hex(), im.resize((4, 4), Image.NEAREST).tobytes().hex())
`},
		{"lxml", false, `
import lxml.etree as e
print(e.tostring(e.fromstring('<a><b x="1">t</b></a>')), e.XML("<r><i>2</i></r>").xpath("number(//i)"))
`},
		{"cryptography", false, `
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
h = hashes.Hash(hashes.SHA256())
h.update(b"abc" * 100)
c = Cipher(algorithms.AES(bytes(range(16))), modes.CBC(bytes(16))).encryptor()
print(h.finalize().hex(), (c.update(b"0123456789abcdef" * 3) + c.finalize()).hex())
`},
		{"pandas", true, `
import pandas as pd
d = pd.DataFrame({"a": [1, 2, 1], "b": [2.5, 0, 1]})
print(d.sum().to_dict(), d.groupby("a").b.sum().tolist(), d.sort_values("b").index.tolist())
`},
		{"scipy", true, `
import scipy.special, scipy.sparse
print(scipy.special.comb(20, 10, exact=True), scipy.sparse.eye(4).sum())
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.slow && os.Getenv("SYMCHEF_SLOW") == "" {
				t.Skip("skipped: its import takes half a minute; SYMCHEF_SLOW is not set")
			}
			if out, err := exec.Command(python, "-c", "import "+c.name).CombinedOutput(); err != nil {
				t.Skipf("skipped: the package is not installed: %s", out)
			}
			t.Parallel()
			b := newBox(t)
			b.env = append(b.env, "OPENBLAS_NUM_THREADS=1")
			script := b.write("script.py", c.script)
			native := exec.Command(python, script)
			native.Dir, native.Env = b.dir, b.env
			want, err := native.Output()
			if err != nil {
				t.Fatalf("natively: %v", err)
			}
			if r := b.run("exec", program, script); r.status != 0 || r.stdout != string(want) {
				t.Errorf("status %d, %q, natively %q\n%s", r.status, r.stdout, want, r.stderr)
			}
		})
	}
}
