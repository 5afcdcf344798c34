package device

// Function is one that can be called without a test, as the guest library tells of it.
type Function struct {
	Run       string   // FILE::NAME, by which it is run; empty: it is part of what cannot be loaded
	Name      string   // its full name in the words of the language
	At        string   // FILE:LINE where it is defined
	Signature string   // its inputs, what each takes and who says so
	Refused   string   // why it cannot be called; empty: it can
	Guessed   []string // the parameters of which nothing tells what they take
	Promised  []string // the types of exceptions that its text names
	Own       []string // those that its package defines
}

func parseFunction(r *Request, f *fields) {
	r.Function = &Function{
		Run: f.raw("run"), Name: f.text("name"), At: f.raw("place"), Signature: f.text("signature"), Refused: f.text("reason"),
		Guessed: f.list("guess", MaxTests), Promised: f.list("exception", MaxTests), Own: f.list("exception", MaxTests),
	}
}

func formatFunction(r *Request) []string {
	d := r.Function
	out := []string{Quote(d.Run), Quote(d.Name), Quote(d.At), Quote(d.Signature), Quote(d.Refused)}
	for _, list := range [][]string{d.Guessed, d.Promised, d.Own} {
		out = append(out, formatList(list)...)
	}
	return out
}
