package session

import (
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"

	"symchef/internal/device"
	"symchef/internal/rundir"
	"symchef/internal/testcase"
)

// someFindings are two functions, one with a finding whose texts are hard to write.
func someFindings() ([]*checked, []finding) {
	good := &checked{Function: device.Function{Name: "m.f"}, Summary: &rundir.Summary{ElapsedS: 1.5}}
	bad := &checked{Function: device.Function{Name: "m.<b>\xff"}, Error: "no & value"}
	f := finding{Function: good, Call: "m.f(\"<\x01&\xff\")", Imports: []string{"import m"},
		Finding: rundir.Finding{Outcome: testcase.Outcome{Kind: testcase.Exception, Type: "KeyError", Message: "]]>"}, Site: "/w/a b/m.x:7:f"}}
	return []*checked{good, bad}, []finding{f, {Function: good, Call: "m.f()", Finding: rundir.Finding{Outcome: testcase.Outcome{Kind: testcase.Hang}}}}
}

// SARIF has what its schema requires, and rules for all kinds that are findings.
func TestSARIF(t *testing.T) {
	_, found := someFindings()
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name  string
					Rules []struct{ ID string }
				}
			}
			Results []struct {
				RuleID    string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine int }
					}
				}
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal(sarif(found, "/w"), &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Name == "" || len(log.Runs[0].Results) != 2 {
		t.Fatalf("%+v", log)
	}
	rules := map[string]bool{}
	for _, r := range log.Runs[0].Tool.Driver.Rules {
		rules[r.ID] = true
	}
	for _, k := range []testcase.Kind{testcase.Exception, testcase.Assertion, testcase.Crash, testcase.Hang} {
		if !rules[string(k)] || !(testcase.Outcome{Kind: k}).Failing() {
			t.Errorf("no rule for %s", k)
		}
	}
	first, second := log.Runs[0].Results[0], log.Runs[0].Results[1]
	if at := first.Locations[0].PhysicalLocation; at.ArtifactLocation.URI != "a%20b/m.x" || at.Region.StartLine != 7 || first.Message.Text == "" || !rules[first.RuleID] {
		t.Errorf("%+v", first)
	}
	if len(second.Locations) != 0 || second.PartialFingerprints["symchef/v1"] == first.PartialFingerprints["symchef/v1"] {
		t.Errorf("%+v", second)
	}
	if got := uriOf("/x/m.x", "/w"); got != "file:///x/m.x" {
		t.Error(got)
	}
	if text := string(sarif(nil, "/w")); !strings.Contains(text, `"results": []`) {
		t.Error(text)
	}
}

// JUnit's XML is well formed whatever stands in it: a failure for each finding, what cannot be checked is skipped.
func TestJUnit(t *testing.T) {
	functions, found := someFindings()
	var all junitSuites
	text := junit("t&\x00", functions, found, 2)
	if err := xml.Unmarshal(text, &all); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := all.Suites[0]
	if s.Tests != 2 || s.Failures != 1 || s.Skipped != 1 || s.Errors != 0 || len(s.Cases) != 2 {
		t.Errorf("%+v", s)
	}
	if c := s.Cases[0]; c.Class != "m" || c.Name != "f" || c.Time != "1.500" || len(c.Failure) != 2 || c.Failure[0].Type != "KeyError" || !strings.Contains(c.Failure[0].Text, "import m\nm.f(\"<?&?\")\nat /w/a b/m.x:7:f") {
		t.Errorf("%+v", c)
	}
	if c := s.Cases[1]; c.Skipped == nil || c.Skipped.Message != "no & value" {
		t.Errorf("%+v", c)
	}
}
