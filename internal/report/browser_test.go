package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"testing"
)

// A browser is a session of headless Chromium, driven by the WebDriver protocol (w3.org/TR/webdriver2).
type browser struct {
	t    *testing.T
	base string // of the session's URLs
}

// openBrowser starts one, or skips the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	driver, err := exec.LookPath("chromedriver")
	if err != nil {
		t.Skip("skipped: ", err)
	}
	cmd := exec.Command(driver, "--port=0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip("skipped: ", err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	started := regexp.MustCompile(`started successfully on port ([0-9]+)`)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if m := started.FindStringSubmatch(lines.Text()); m != nil {
			b := &browser{t, "http://127.0.0.1:" + m[1]}
			go io.Copy(io.Discard, out)
			var session struct{ SessionID string }
			err := b.ask("POST", "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
				"goog:chromeOptions":      map[string]any{"args": []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,900"}},
				"goog:loggingPrefs":       map[string]string{"browser": "ALL"},
				"pageLoadStrategy":        "normal",
				"unhandledPromptBehavior": "dismiss",
			}}}, &session)
			if err != nil {
				t.Skip("skipped: Chromium does not start: ", err)
			}
			b.base += "/session/" + session.SessionID
			t.Cleanup(func() { b.ask("DELETE", "", nil, nil) })
			return b
		}
	}
	t.Skip("skipped: chromedriver does not start")
	return nil
}

// ask sends one command.
func (b *browser) ask(method, path string, body, value any) error {
	var sent io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		sent = bytes.NewReader(text)
	}
	q, err := http.NewRequest(method, b.base+path, sent)
	if err != nil {
		return err
	}
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer r.Body.Close()
	var reply struct{ Value json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil {
		return err
	}
	if r.StatusCode != http.StatusOK {
		return fmt.Errorf("%s", reply.Value)
	}
	if value == nil {
		return nil
	}
	return json.Unmarshal(reply.Value, value)
}

// open loads a page.
func (b *browser) open(url string) {
	b.t.Helper()
	if err := b.ask("POST", "/url", map[string]string{"url": url}, nil); err != nil {
		b.t.Fatal(err)
	}
}

// run is what a script of the page returns, as text.
func (b *browser) run(script string) string {
	b.t.Helper()
	var value any
	if err := b.ask("POST", "/execute/sync", map[string]any{"script": script, "args": []any{}}, &value); err != nil {
		b.t.Fatalf("%s\n%v", script, err)
	}
	return fmt.Sprint(value)
}

// key presses a key in whatever has the focus. Names are those of WebDriver's table of code points.
func (b *browser) key(key string) {
	b.t.Helper()
	if err := b.ask("POST", "/actions", map[string]any{"actions": []any{map[string]any{"type": "key", "id": "keyboard", "actions": []any{
		map[string]string{"type": "keyDown", "value": key}, map[string]string{"type": "keyUp", "value": key}}}}}, nil); err != nil {
		b.t.Fatal(err)
	}
}

// console is what the page has complained of so far.
func (b *browser) console() (said []string) {
	b.t.Helper()
	var entries []struct{ Level, Message string }
	if err := b.ask("POST", "/se/log", map[string]string{"type": "browser"}, &entries); err != nil {
		b.t.Fatal(err)
	}
	for _, e := range entries {
		said = append(said, e.Level+" "+e.Message)
	}
	return said
}
