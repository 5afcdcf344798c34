package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestJIT: programs that write code and run it print in the machine what they print natively. Each says, too, that its compiler is on.
func TestJIT(t *testing.T) {
	for _, c := range []struct {
		name, program string
		args          []string
		script        string
	}{
		{"luajit", "luajit", nil, `
assert(jit.status())
local compiled = 0
jit.attach(function(what) if what == "stop" then compiled = compiled + 1 end end, "trace")
local s, t = 0, {}
for i = 1, 3000 do s = (s * 31 + i) % 1000003; t[i] = s end
local x = 0.5
for i = 1, 2000 do x = 3.7 * x * (1 - x) + (t[i] % 7) * 1e-9 end
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end
local parts = {}
for i = 1, 300 do parts[#parts + 1] = string.format("%x", t[i] * i) end
assert(compiled >= 3, compiled)
print(s, string.format("%.12g", x), fib(16), #table.concat(parts))
`},
		{"php", "php8.2", []string{"-d", "opcache.enable_cli=1", "-d", "opcache.jit=tracing", "-d", "opcache.jit_buffer_size=8M"}, `<?php
$on = opcache_get_status(false)["jit"];
if (!$on["enabled"] || !$on["on"]) { echo "no compiler"; exit(1); }
function mix($n) { $s = 0; for ($i = 1; $i <= $n; $i++) { $s = ($s * 31 + $i) % 1000003; } return $s; }
function logistic($n) { $x = 0.5; for ($i = 0; $i < $n; $i++) { $x = 3.7 * $x * (1 - $x); } return $x; }
function fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }
$a = []; for ($i = 0; $i < 500; $i++) { $a[] = mix($i % 50); }
printf("%d %.10f %d %s\n", mix(3000), logistic(2000), fib(16), md5(implode(",", $a)));
$now = opcache_get_status(false)["jit"];
if ($now["buffer_size"] <= $now["buffer_free"]) { exit(1); }
`},
		{"php-function", "php8.2", []string{"-d", "opcache.enable_cli=1", "-d", "opcache.jit=function", "-d", "opcache.jit_buffer_size=8M"}, `<?php
function collatz($n) { for ($k = 0; $n != 1; $k++) { $n = $n % 2 ? 3 * $n + 1 : intdiv($n, 2); } return $k; }
for ($i = 1, $s = 0; $i < 300; $i++) { $s += collatz($i); }
echo $s, "\n";
`},
		{"pcre", "php8.2", []string{"-d", "pcre.jit=1"}, `<?php
if (!ini_get("pcre.jit")) { exit(1); }
$text = str_repeat("key=value; other_key = 12345, (nested (parens)) foo@example.org <b>bold</b>\n", 30);
foreach (['/(\w+)\s*=\s*(\w+)/', '/\((?:[^()]++|(?R))*\)/', '/[\w.]+@[\w.]+/i', '/(?<=<b>).*?(?=<\/b>)/', '/^(?=.*\d)(?=.*[a-z]).{4,}$/m', '/(a|b|ab)*+c|\bkey\b/'] as $p) {
	echo $p, " ", preg_match_all($p, $text, $m), " ", md5(serialize($m)), "\n";
}
echo preg_replace_callback('/\d+/', fn($m) => $m[0] * 2, "1 22 333"), preg_last_error(), "\n";
`},
		{"pcre-r", "Rscript", nil, `
stopifnot(pcre_config()["JIT"])
options(PCRE_use_JIT = TRUE)
x <- rep(c("key=value", "none", "a1b22c333", "foo@example.org"), 20)
print(sum(grepl("^\\w+=\\w+$", x, perl = TRUE)))
print(unique(gsub("(?<=[a-z])\\d+", "#", x, perl = TRUE)))
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			program, err := exec.LookPath(c.program)
			if err != nil {
				t.Skipf("skipped: %s is not installed", c.program)
			}
			if c.program == "Rscript" && os.Getenv("SYMCHEF_SLOW") == "" {
				t.Skip("skipped: half a minute; SYMCHEF_SLOW is not set")
			}
			t.Parallel()
			b := newBox(t)
			args := append(c.args, b.write("script", c.script))
			native := exec.Command(program, args...)
			native.Dir, native.Env, native.Stderr = b.dir, b.env, os.Stderr
			want, err := native.Output()
			if err != nil {
				t.Skipf("skipped: natively %s has no compiler: %v: %s", c.program, err, want)
			}
			if r := b.run(append([]string{"exec", program}, args...)...); r.status != 0 || r.stdout != string(want) {
				t.Errorf("status %d, %q, natively %q\n%s", r.status, r.stdout, want, r.stderr)
			}
		})
	}
}
