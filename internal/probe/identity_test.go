package probe

import (
	"maps"
	"os"
	"strings"
	"testing"

	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/model"
)

// stock finds the model of an interpreter, as a run does.
func stock(t *testing.T, path string) (*Process, *Image, model.Binding) {
	t.Helper()
	d, ok := interp.ByName("lua")
	if !ok {
		t.Fatal("no description")
	}
	found, err := d.Locate(path, strings.TrimPrefix(path, "/usr/bin/lua"), "")
	if err != nil {
		t.Fatal(err)
	}
	p, err := Start(kernel.Config{Path: path, Argv: []string{path}, Cwd: "/"})
	if err != nil {
		t.Fatal(err)
	}
	img, err := p.Open(found.Path)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range found.Models {
		if b.Name != "deferred-identity" {
			continue
		}
		if err := findIdentity(p, img, &b); err != nil {
			t.Fatal(err)
		}
		return p, img, b
	}
	t.Fatalf("%s: the description has no such model: %v", path, found.Without)
	return nil, nil, model.Binding{}
}

// Guards: in each stock Lua there is, strings, tables and what works on them are found, and the model holds against the stock functions; without one
// of its places it does not, and that is noticed.
func TestIdentity(t *testing.T) {
	for _, version := range []string{"5.1", "5.2", "5.3", "5.4"} {
		path := "/usr/bin/lua" + version
		if _, err := os.Stat(path); err != nil {
			t.Logf("skipped: %s is not installed", path)
			continue
		}
		p, img, b := stock(t, path)
		if err := Check(p, img, b); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		t.Logf("%s: %v %x", path, b.Numbers, b.Places)
		for _, place := range []string{"equal", "get", "get-string", "name"} { // others cost paths, or one of these does the same
			less := b
			less.Places = maps.Clone(b.Places)
			delete(less.Places, place)
			if err := Check(p, img, less); err == nil || len(b.Places[place]) == 0 {
				t.Errorf("%s without %s: %v", path, place, err)
			}
		}
	}
}

// Guards: a function that does something else than its name in the description says is an error that says why.
func TestNoIdentity(t *testing.T) {
	const path = "/usr/bin/lua5.4"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("skipped: %s is not installed", path)
	}
	_, _, right := stock(t, path)
	for _, c := range [][3]string{
		{"new-state", "lua_pushlstring", "lua_pushlstring: signal 11"},
		{"push-number", "lua_gettop", "no stack of values"},
		{"push-string", "lua_pushinteger", "how much memory a string of lua_pushinteger takes"},
		{"push-string", "lua_pushstring", "does not take only as many bytes"},
		{"collect", "lua_gettop", "lua_gettop does not tell how much memory"},
		{"new-thread", "lua_pushnil", "the table of strings"},
		{"new-table", "lua_pushboolean", "signal 11"},
		{"set", "lua_rawget", "lua_rawget: signal 11"},
		{"load", "luaL_ref", ""},
		{"load", "lua_none", "is not exported"},
		{"call", "lua_gettop", "its program"},
		{"text", "lua_type", "its program"},
		{"libraries", "lua_gettop", "its program"},
	} {
		b := right
		b.Functions = maps.Clone(b.Functions)
		b.Functions[c[0]] = c[1]
		_, err := Find(kernel.Config{Path: path, Argv: []string{path}, Cwd: "/"}, path, &b)
		if err == nil || !strings.Contains(err.Error(), c[2]) {
			t.Errorf("%s for %s: %v, want %s", c[1], c[0], err, c[2])
		}
	}
}
