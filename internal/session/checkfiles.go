package session

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"

	"symchef/internal/testcase"
)

// What other programs read of a check: SARIF 2.1.0 (OASIS, 27 March 2020), and the XML of JUnit, which has no standard: what Jenkins' schema
// (junit-10.xsd) and GitLab read.

// The parts of SARIF that are written: required properties, and what shows a finding at its line.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name  string      `json:"name"`
		Rules []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string    `json:"id"`
		ShortDescription sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID              string            `json:"ruleId"`
		Level               string            `json:"level"`
		Message             sarifText         `json:"message"`
		Locations           []sarifLocation   `json:"locations,omitempty"`
		PartialFingerprints map[string]string `json:"partialFingerprints"`
	}
	sarifLocation struct {
		PhysicalLocation sarifPhysical `json:"physicalLocation"`
	}
	sarifPhysical struct {
		ArtifactLocation sarifArtifact `json:"artifactLocation"`
		Region           sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine int `json:"startLine"`
	}
)

// sarifRules are the kinds of findings.
var sarifRules = []sarifRule{
	{string(testcase.Exception), sarifText{"An exception that is neither documented nor the package's own"}},
	{string(testcase.Assertion), sarifText{"An assertion that fails"}},
	{string(testcase.Crash), sarifText{"A signal that kills the interpreter"}},
	{string(testcase.Hang), sarifText{"A call that does not end"}},
}

// sarif is the check's findings, with files below cwd by their relative paths.
func sarif(found []finding, cwd string) []byte {
	run := sarifRun{Tool: sarifTool{sarifDriver{"symchef", sarifRules}}, Results: []sarifResult{}}
	for _, f := range found {
		r := sarifResult{
			RuleID: string(f.Outcome.Kind), Level: "error", Message: sarifText{strings.ToValidUTF8(f.summary(), "?")},
			PartialFingerprints: map[string]string{"symchef/v1": f.fingerprint()},
		}
		if file, line, ok := fileAndLine(f.Site); ok {
			r.Locations = []sarifLocation{{sarifPhysical{sarifArtifact{uriOf(file, cwd)}, sarifRegion{line}}}}
		}
		run.Results = append(run.Results, r)
	}
	b, _ := json.MarshalIndent(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}}, "", "  ")
	return append(b, '\n')
}

// summary is a finding in one line.
func (f *finding) summary() string {
	return fmt.Sprintf("%s: %s", f.Call, f.Outcome)
}

// fingerprint is the same for a finding in two checks.
func (f *finding) fingerprint() string {
	b, _ := json.Marshal(knownOf(f))
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// fileAndLine are those of FILE:LINE:FUNCTION.
func fileAndLine(site string) (file string, line int, ok bool) {
	m := placeParts.FindStringSubmatch(site)
	if m == nil {
		return "", 0, false
	}
	line, err := strconv.Atoi(m[2])
	return m[1], line, err == nil && line > 0
}

// uriOf is a file as a reference: relative where it is below cwd.
func uriOf(file, cwd string) string {
	if rel, err := filepath.Rel(cwd, file); err == nil && filepath.IsLocal(rel) {
		return (&url.URL{Path: rel}).EscapedPath()
	}
	return (&url.URL{Scheme: "file", Path: file}).String()
}

// The elements of JUnit's XML.
type (
	junitSuites struct {
		XMLName xml.Name     `xml:"testsuites"`
		Suites  []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr"`
		Time     string      `xml:"time,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Time    string        `xml:"time,attr"`
		Failure []junitReason `xml:"failure"`
		Error   *junitReason  `xml:"error"`
		Skipped *junitReason  `xml:"skipped"`
	}
	junitReason struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// junit is the check as tests, one for each function: a finding is a failure of its function.
func junit(target string, functions []*checked, found []finding, seconds float64) []byte {
	s := junitSuite{Name: plainText(target), Tests: len(functions), Time: fmt.Sprintf("%.3f", seconds)}
	for _, t := range functions {
		at := strings.LastIndexByte(t.Name, '.')
		c := junitCase{Class: plainText(t.Name[:max(at, 0)]), Name: plainText(t.Name[at+1:]), Time: "0"}
		if t.Summary != nil {
			c.Time = fmt.Sprintf("%.3f", t.Summary.ElapsedS)
		}
		for _, f := range found {
			if f.Function == t {
				c.Failure = append(c.Failure, junitReason{plainText(f.summary()), plainText(string(f.Outcome.Type)), plainText(strings.Join(append(f.Imports, f.Call, "at "+f.Site, f.evidence()), "\n"))})
			}
		}
		switch {
		case t.Status == StatusEngine:
			c.Error = &junitReason{Message: plainText(t.Error)}
			s.Errors++
		case t.Error != "":
			c.Skipped = &junitReason{Message: plainText(t.Error)}
			s.Skipped++
		}
		s.Failures += min(len(c.Failure), 1)
		s.Cases = append(s.Cases, c)
	}
	b, _ := xml.MarshalIndent(junitSuites{Suites: []junitSuite{s}}, "", "  ")
	return append([]byte(xml.Header), append(b, '\n')...)
}

// plainText is text without what XML cannot hold.
func plainText(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(text, "?"))
}
