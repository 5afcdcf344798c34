package testcase

import "encoding/json"

// The JSON forms of types some of whose texts need not be UTF-8: a field of the same name hides that of the plain type.

type plainOutcome Outcome

type outcomeJSON struct {
	plainOutcome
	Type    Text `json:"type,omitempty"`
	Message Text `json:"message,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return marshal(outcomeJSON{plainOutcome(o), Text(o.Type), Text(o.Message)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *Outcome) UnmarshalJSON(b []byte) error {
	var j outcomeJSON
	err := json.Unmarshal(b, &j)
	*o = Outcome(j.plainOutcome)
	o.Type, o.Message = string(j.Type), string(j.Message)
	return err
}

type plainInput Input

type inputJSON struct {
	Name Text `json:"name"`
	plainInput
	Chosen Told `json:"chosen,omitzero"`
}

// MarshalJSON implements json.Marshaler.
func (in Input) MarshalJSON() ([]byte, error) {
	j := inputJSON{Name: Text(in.Name), plainInput: plainInput(in)}
	if in.Type == TypeChoice {
		j.Chosen = Told{in.Chosen, in.Label}
	}
	return marshal(j)
}

// UnmarshalJSON implements json.Unmarshaler.
func (in *Input) UnmarshalJSON(b []byte) error {
	var j inputJSON
	err := json.Unmarshal(b, &j)
	*in = Input(j.plainInput)
	in.Name, in.Chosen = string(j.Name), j.Chosen.Value
	return err
}

type plainTarget Target

type targetJSON struct {
	plainTarget
	Path        Text `json:"path"`
	Name        Text `json:"name,omitempty"`
	Interpreter Text `json:"interpreter,omitempty"`
	Cwd         Text `json:"cwd"`
}

// MarshalJSON implements json.Marshaler.
func (g Target) MarshalJSON() ([]byte, error) {
	return marshal(targetJSON{plainTarget(g), Text(g.Path), Text(g.Name), Text(g.Interpreter), Text(g.Cwd)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (g *Target) UnmarshalJSON(b []byte) error {
	var j targetJSON
	err := json.Unmarshal(b, &j)
	*g = Target(j.plainTarget)
	g.Path, g.Name, g.Interpreter, g.Cwd = string(j.Path), string(j.Name), string(j.Interpreter), string(j.Cwd)
	return err
}

type plainDecision Decision

type decisionJSON struct {
	plainDecision
	Source Text `json:"source,omitempty"`
	Symbol Text `json:"symbol,omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (d Decision) MarshalJSON() ([]byte, error) {
	return marshal(decisionJSON{plainDecision(d), Text(d.Source), Text(d.Symbol)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (d *Decision) UnmarshalJSON(b []byte) error {
	var j decisionJSON
	err := json.Unmarshal(b, &j)
	*d = Decision(j.plainDecision)
	d.Source, d.Symbol = string(j.Source), string(j.Symbol)
	return err
}
