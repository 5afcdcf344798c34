package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

const shop = `from dataclasses import dataclass
from typing import Annotated, Optional
import symchef
import money

class Length:
    def __init__(self, least, most):
        self.min_length, self.max_length = least, most

@dataclass
class Item:
    price: "money.Price"
    note: Optional[Annotated[str, Length(2, 2)]] = None

def test_shop(items: Annotated[list[Item], Length(0, 2)], *, limit: Optional[float]):
    symchef.assume(len(items) != 1)
    if items and items[1].note == "a\n" and not limit:
        raise KeyError("no")
    codes = None if items else symchef.getList("codes", symchef.Bool(), max_size=1)
    items.append(None)
    return len(items), codes
`

const money = `class Price:
    def __init__(self, cents: int, currency="EUR"):
        if cents < 0:
            raise ValueError("negative")
        self.cents = cents
`

// Inputs of a shape are source code where findings are shown, in emitted files, and in the test cases; their parts are what is replayed, executed again
// and resumed with.
func TestShapes(t *testing.T) {
	b := pythonBox(t)
	b.write("code/test_shop.py", shop)
	b.write("code/money.py", money)
	b.run("run", "--out", "out", "--max-paths", "4", "code/test_shop.py").want(0)
	b.run("run", "--resume", "out").want(1, "exhausted", "1 finding", "6 test cases (1 failing)",
		`items=[Item(price=Price(cents=0), note=None), Item(price=Price(cents=0), note="a\n")] limit=None`)
	b.run("replay", "out").want(0, " 0 diverged")
	b.run("rerun", "out").want(0, " 0 strayed")
	b.run("emit", "--format", "unittest", "-o", "code/cases.py", "out").want(0)
	text, err := os.ReadFile(b.path("code/cases.py"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"items": lambda test: [test.Item(price=importlib.import_module("money").Price(cents=0), note=None), `; !strings.Contains(string(text), want) {
		t.Errorf("no %s in\n%s", want, text)
	}
	cmd := exec.Command(python, "cases.py", "-v")
	cmd.Dir, cmd.Env = b.path("code"), []string{"PYTHONDONTWRITEBYTECODE=1", "HOME=" + b.dir}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "OK (expected failures=1)") {
		t.Errorf("unittest: %v\n%s", err, out)
	}
}
