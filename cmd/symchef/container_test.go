package main

import (
	"debug/elf"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// image is what the Dockerfile says.
type image struct {
	base       string
	steps      [][2]string // instruction and its text, in order
	entrypoint []string
}

func readDockerfile(t *testing.T) (m image) {
	t.Helper()
	text, err := readFile("../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text) {
		what, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch what {
		case "", "#":
		case "FROM":
			m.base = rest
		case "RUN", "COPY", "ENV", "WORKDIR":
			m.steps = append(m.steps, [2]string{what, rest})
		case "ENTRYPOINT":
			if err := json.Unmarshal([]byte(rest), &m.entrypoint); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("Dockerfile: %s: this test does not know it", what)
		}
	}
	return m
}

// What the Dockerfile copies is in its context, and needs nothing of the image.
func TestDockerfile(t *testing.T) {
	m := readDockerfile(t)
	ignored, err := readFile("../../.dockerignore")
	if err != nil || !strings.HasPrefix(m.base, "debian:") || !strings.HasSuffix(m.base, "-slim") || len(m.entrypoint) != 1 {
		t.Fatalf("%+v %v", m, err)
	}
	copied := false
	for _, s := range m.steps {
		from, to, _ := strings.Cut(s[1], " ")
		if s[0] == "COPY" {
			copied = from == "symchef" && filepath.Base(to) == m.entrypoint[0]
			if !strings.Contains(ignored, "\n!"+from+"\n") {
				t.Errorf(".dockerignore leaves %s out", from)
			}
		}
	}
	e, err := elf.Open(binary)
	if err != nil || !copied {
		t.Fatal(copied, err)
	}
	defer e.Close()
	for _, p := range e.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the binary is not static")
		}
	}
}

// The image of the Dockerfile: built and run by Docker where it works, else step by step in a root made by debootstrap, under what Docker's defaults refuse.
func TestImage(t *testing.T) {
	if os.Getenv("SYMCHEF_SLOW") == "" {
		t.Skip("skipped: it makes a root of Debian; set SYMCHEF_SLOW=1")
	}
	b := newBox(t)
	b.write("test_s.py", "import symchef\ndef test_s(x: symchef.Str(2)):\n    print(x[0] == 'b')\n")
	m := readDockerfile(t)
	if exec.Command("docker", "info").Run() == nil {
		folder := b.path("context")
		for _, args := range [][]string{{"mkdir", folder}, {"cp", "../../Dockerfile", folder}, {"cp", binary, folder + "/symchef"}, {"docker", "build", "-t", "symchef-test", folder},
			{"docker", "run", "--rm", "-v", b.dir + ":/project", "symchef-test", "run", "test_s.py"}} {
			if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %v\n%s", args, err, out)
			}
		}
		return
	}
	if _, err := exec.LookPath("debootstrap"); err != nil || os.Getuid() != 0 {
		t.Skip("skipped: no Docker, and no debootstrap by the superuser")
	}
	root := b.path("root")
	suite, _, _ := strings.Cut(strings.TrimPrefix(m.base, "debian:"), "-")
	if out, err := exec.Command("debootstrap", "--variant=minbase", suite, root).CombinedOutput(); err != nil {
		t.Skipf("skipped: no root of %s: %v\n%.1000s", suite, err, out)
	}
	env, folder := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, "/"
	for _, s := range m.steps {
		var err error
		var out []byte
		switch from, to, _ := strings.Cut(s[1], " "); s[0] {
		case "RUN":
			cmd := exec.Command("chroot", root, "sh", "-c", s[1])
			cmd.Env = env
			out, err = cmd.CombinedOutput()
		case "COPY":
			out, err = exec.Command("cp", filepath.Join(filepath.Dir(binary), from), root+to).CombinedOutput()
		case "ENV":
			env = append(env, s[1])
		case "WORKDIR":
			folder, err = s[1], os.MkdirAll(root+s[1], 0o755)
		}
		if err != nil {
			t.Fatalf("%s %s: %v\n%s", s[0], s[1], err, out)
		}
	}
	test, _ := os.ReadFile(b.path("test_s.py"))
	if err := os.WriteFile(root+folder+"/test_s.py", test, 0o644); err != nil {
		t.Fatal(err)
	}
	b.env = append(env, "FOLDER="+folder)
	b.onWith("image", "/usr/local/bin/"+m.entrypoint[0], "doctor").want(0, "python    3.", "lua       5.4", "confined by landlock; replays run at random addresses", "boot       native")
	b.onWith("image", "/usr/local/bin/"+m.entrypoint[0], "run", "test_s.py").want(0, "replay (landlock): 2 agreed", "exhausted: every input")
}

// enterImage makes dir/root the root, as a container has it.
func enterImage(dir string) error {
	root := filepath.Join(dir, "root")
	return errors.Join(unix.Mount("proc", root+"/proc", "proc", 0, ""), unix.Mount("/dev", root+"/dev", "", unix.MS_BIND|unix.MS_REC, ""), unix.Chroot(root),
		unix.Chdir(os.Getenv("FOLDER")), fewCapabilities(), refuse(containerCalls()))
}
