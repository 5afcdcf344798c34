package hlpc

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"golang.org/x/arch/x86/x86asm"

	"symchef/internal/cpu"
	"symchef/internal/exec"
	"symchef/internal/expr"
	"symchef/internal/interp"
	"symchef/internal/kernel"
	"symchef/internal/mem"
)

// Version changes whenever the meaning of a stored Result does.
const Version = 3

// Result says where an interpreter keeps its high-level program counter (HLPC). Addresses are the
// module's own, so it holds for every process that runs this build.
type Result struct {
	Language string   `json:"language"`
	Function Function `json:"function"`
	Kind     string   `json:"kind"` // of the indirect branches: jump or call
	// Location plus Delta is the HLPC at the branch: the address of the operation about to run.
	Location Loc      `json:"location"`
	Delta    int64    `json:"delta"`
	Linear   bool     `json:"linear"` // bytecode; otherwise a list of operations or a tree
	Opcode   string   `json:"opcode"` // expression over the HLPC, pc
	Dispatch Dispatch `json:"dispatch"`
	Level    string   `json:"level"` // of Dispatch
	// Sites are the branches that did nothing but dispatch, in the module's addresses; Branches is how
	// many of the kind the function has.
	Sites    []uint64 `json:"sites"`
	Branches int      `json:"branches"`
	// PerStatement is the number of operations of one statement of the script.
	PerStatement float64 `json:"per_statement"`
	// Frame changes exactly at call and return; FrameKnown is false if no place does.
	Frame      Loc  `json:"frame"`
	FrameKnown bool `json:"frame_known"`
	// Code names the description's rule for code objects that holds; empty: none does.
	Code string `json:"code,omitempty"`
	// Object is where the address of the code object is, if the rule leaves that to calibration.
	Object Loc `json:"object,omitzero"`
	// Redispatch: an instruction dispatched twice in a row, at one place in one frame, is executed once.
	Redispatch bool `json:"redispatch,omitempty"`
	// Confidence is high: dispatch and frame are verified; medium: one is not; low: neither.
	Confidence string   `json:"confidence"`
	RunnersUp  []string `json:"runners_up,omitempty"`

	// Told: the guest tells of its steps, and nothing of this is known, see Told.
	Told *Label `json:"-"`

	rule *interp.CodeRule
}

// Told stands for a calibration where the guest tells of each step itself (docs/device-protocol.md, step), as authors of interpreters do in CHEF. All steps are of one
// code object that is called so.
func Told(l Label) *Result { return &Result{Told: &l} }

// AmbiguousError is a calibration without a winner.
type AmbiguousError struct {
	Prefer     string   // the description's annotation, if it fits none of the candidates
	Candidates []string // none: nothing behaves like a program counter
}

func (e *AmbiguousError) Error() string {
	if e.Prefer != "" && len(e.Candidates) > 0 {
		return "the description says (prefer \"" + e.Prefer + "\"), which is none of\n  " + strings.Join(e.Candidates, "\n  ")
	}
	if len(e.Candidates) == 0 {
		return "no register or cell at an indirect branch behaves like a program counter: does the script execute its statements in the windows, compiled before?"
	}
	return "more than one place behaves like the program counter; name one in the description, for example (prefer \"" +
		annotation(e.Candidates[0]) + "\"):\n  " + strings.Join(e.Candidates, "\n  ")
}

// annotation is the part of a candidate's text that (prefer ...) takes.
func annotation(candidate string) string {
	a, _, _ := strings.Cut(candidate, " at ")
	return a
}

// String begins with what (prefer ...) takes.
func (c *Candidate) String() string {
	return fmt.Sprintf("%s at %v: %.2f per statement, loop %.2f of %d, dispatch %s", c.name(), c.Branch.Function,
		c.Slope, c.Rounds, interp.Rounds, c.Dispatch.Level)
}

func (c *Candidate) name() string { return c.Branch.Kind() + " " + c.Loc.String() }

var levelNames = [...]string{"not explained", "a function of the opcode", "by a table, verified", "by the address in the code, verified"}

// String says how the branch is explained.
func (l Level) String() string { return levelNames[l] }

// Calibrate finds the high-level program counter of the interpreter that cfg starts; its
// argument vector is that of cal. The interpreter is booted once, natively if that is wanted and possible; each pass runs the windows
// again from there.
func Calibrate(cfg kernel.Config, cal *interp.Calibration, native bool) (*Result, error) {
	r, err := boot(cfg, cal, native)
	if err != nil {
		return nil, err
	}
	all, err := r.candidates()
	if err != nil {
		return nil, err
	}
	best := all[0]
	mine := func(f *Function, call bool) bool {
		return f.Module == best.Branch.Function.Module && f.Offset == best.Branch.Function.Offset && call == best.Branch.Call
	}
	deep, err := r.trace(deepLocs(), mine, &best)
	if err != nil {
		return nil, err
	}
	if len(deep.Branches) != 1 {
		return nil, errors.New("the interpreter does not run the same way twice")
	}
	b := deep.Branches[0]
	res := &Result{
		Language: cal.Language, Function: *b.Function, Kind: b.Kind(), Location: best.Loc, Linear: best.Linear,
		Dispatch: best.Dispatch, Level: best.Dispatch.Level.String(), PerStatement: best.Slope, Redispatch: cal.Redispatch,
	}
	if res.Linear {
		res.Delta = best.Dispatch.Delta
	}
	res.Opcode = best.Dispatch.Opcode(res.Delta)
	for _, c := range all[1:min(len(all), 6)] {
		res.RunnersUp = append(res.RunnersUp, c.String())
	}
	res.Sites = b.sites()
	if res.Branches, err = countBranches(b.Function, b.Call); err != nil {
		return nil, err
	}
	if err := r.chooseFrame(res, Frames(deep, b)); err != nil {
		return nil, err
	}
	res.Confidence = res.confidence(best.Dispatch.Level)
	return res, nil
}

// candidates makes the passes that find the program counter, and checks that there is a winner.
func (r *runs) candidates() ([]Candidate, error) {
	t, err := r.trace(plainLocs(), nil, nil)
	if err != nil {
		return nil, err
	}
	all := Candidates(t)
	if len(all) == 0 || all[0].Dispatch.Level < Table || r.cal.Prefer != "" && len(r.preferred(all)) == 0 {
		// The program counter may live in memory (algorithm A2): look at what registers point to, in the
		// functions whose branches grow with the script.
		t, err := r.trace(deepLocs(), growing(t), nil)
		if err != nil {
			return nil, err
		}
		if deep := Candidates(t); len(deep) > 0 && (len(all) == 0 || deep[0].Dispatch.Level > all[0].Dispatch.Level || len(r.preferred(deep)) > 0) {
			all = deep
		}
	}
	return r.winner(all)
}

// winner checks that there is a best candidate, among those that the description allows.
func (r *runs) winner(all []Candidate) ([]Candidate, error) {
	allowed, e := r.preferred(all), &AmbiguousError{}
	switch {
	case len(allowed) > 0 && (r.cal.Prefer != "" || !tie(allowed)):
		return allowed, nil
	case len(allowed) == 0:
		e.Prefer = r.cal.Prefer
	}
	for i := range all[:min(len(all), 6)] {
		e.Candidates = append(e.Candidates, all[i].String())
	}
	return nil, e
}

// preferred keeps the candidates that the description allows.
func (r *runs) preferred(all []Candidate) (out []Candidate) {
	for _, c := range all {
		if r.cal.Prefer == "" || c.name() == r.cal.Prefer {
			out = append(out, c)
		}
	}
	return out
}

// tie reports whether the second candidate is as good as the first.
func tie(all []Candidate) bool {
	return len(all) > 1 && all[1].Slope >= near*all[0].Slope && all[1].Dispatch.Level == all[0].Dispatch.Level &&
		(all[0].Dispatch.Level < Table || all[1].Dispatch.Share > all[0].Dispatch.Share-0.05)
}

// growing selects the branches that are executed more often the longer the script.
func growing(t *Trace) func(*Function, bool) bool {
	keep := map[branchKey]bool{}
	for _, b := range t.Branches {
		short, long := b.Windows[interp.WindowShort], b.Windows[interp.WindowLong]
		if long == nil {
			continue
		}
		n := len(long.Events)
		if short != nil {
			n -= len(short.Events)
		}
		keep[branchKey{b.Function.Module, b.Function.Offset, b.Call}] = float64(n) >= minSlope*float64(t.Statements)
	}
	return func(f *Function, call bool) bool { return keep[branchKey{f.Module, f.Offset, call}] }
}

// sites are the branches of b, in the module's addresses, that the dispatch explained each time.
func (b *Branch) sites() []uint64 {
	explained := map[uint64]bool{}
	for _, w := range b.Windows {
		for k := range w.Events {
			e := &w.Events[k]
			before, seen := explained[e.Site]
			explained[e.Site] = e.Dispatch && (before || !seen)
		}
	}
	maps.DeleteFunc(explained, func(_ uint64, ok bool) bool { return !ok })
	out := slices.Sorted(maps.Keys(explained))
	for i := range out {
		out[i] -= b.Bias
	}
	return out
}

// explains reports whether a branch to target is a dispatch of the operation that v points to.
func (d Dispatch) explains(s *mem.Space, v, target, bias uint64) bool {
	want, ok := d.target(s, v, bias)
	return !ok || want == target
}

// target is where the dispatch goes from the operation that v points to; not ok if it cannot tell.
func (d Dispatch) target(m *mem.Space, v, bias uint64) (uint64, bool) {
	word, err := m.ReadU(v+uint64(d.Delta), d.size())
	if err != nil {
		return 0, d.Level >= Table
	}
	if d.Level == Direct {
		return word, true
	}
	if d.Level != Table {
		return 0, false
	}
	base := d.Base
	if d.Relocated {
		base += bias
	}
	at, err := m.ReadU(base+word&d.mask()*uint64(d.Entry), d.Entry)
	if err == nil && d.Entry == 4 {
		at = base + uint64(int64(int32(at)))
	}
	return at, true
}

// countBranches counts the indirect jumps or calls in a function's code.
func countBranches(f *Function, call bool) (int, error) {
	module, err := os.Open(f.Module)
	if err != nil {
		return 0, err
	}
	defer module.Close()
	file, err := elf.NewFile(module)
	if err != nil {
		return 0, err
	}
	code := make([]byte, f.End-f.Offset)
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD && f.Offset >= p.Vaddr && f.End <= p.Vaddr+p.Filesz {
			if _, err := p.ReadAt(code, int64(f.Offset-p.Vaddr)); err != nil {
				return 0, err
			}
		}
	}
	n := 0
	for len(code) > 0 {
		in, err := x86asm.Decode(code, 64)
		if err != nil || in.Len == 0 {
			code = code[1:]
			continue
		}
		code = code[in.Len:]
		if _, direct := in.Args[0].(x86asm.Rel); !direct && (call && in.Op == x86asm.CALL || !call && in.Op == x86asm.JMP) {
			n++
		}
	}
	return n, nil
}

// maxFrames is how many places for the frame are tried with the rules for code objects.
const maxFrames = 12

// chooseFrame takes the first frame for which a code rule of the description holds, else the first. Rules hold without a frame, too, if they do
// not begin there.
func (r *runs) chooseFrame(res *Result, frames []Loc) error {
	if res.FrameKnown = len(frames) > 0; !res.FrameKnown {
		frames = make([]Loc, 1)
	}
	res.Frame = frames[0]
	if len(r.cal.Codes) == 0 {
		return nil
	}
	type try struct {
		Tracer
		steps, in int
	}
	var tries []*try
	add := func(frame, object Loc, rule *interp.CodeRule) {
		t := *res
		t.Frame, t.Object, t.rule = frame, object, rule
		x := &try{Tracer: Tracer{Result: &t, Cursor: &Cursor{}}}
		x.OnStep = func(_ *kernel.System, st *Step) {
			if r.marks.window != "" {
				x.steps++
				if st.Code.Size != 0 {
					x.in++
				}
			}
		}
		tries = append(tries, x)
	}
	for k, f := range frames[:min(len(frames), maxFrames)] {
		for i := range r.cal.Codes {
			switch rule := &r.cal.Codes[i]; {
			case rule.Object != nil:
				add(f, Loc{}, rule)
			case k == 0: // it is found without the frame
				for _, l := range plainLocs() {
					add(f, l, rule)
				}
			}
		}
	}
	m := exec.New(expr.New())
	m.Watch = func(s *mem.Space, site uint64) exec.Watcher {
		var all []exec.Watcher
		for _, x := range tries {
			if w := x.Watch(s, site); w != nil {
				all = append(all, w)
			}
		}
		if all == nil {
			return nil
		}
		return func(sys *kernel.System, s *mem.Space, c *cpu.CPU, target uint64) {
			for _, w := range all {
				w(sys, s, c, target)
			}
		}
	}
	if err := r.again(m); err != nil {
		return err
	}
	best := 0
	for _, x := range tries {
		if x.in > best && x.in*100 >= x.steps*99 {
			best = x.in
			res.Frame, res.Object, res.rule, res.Code = x.Result.Frame, x.Result.Object, x.Result.rule, x.Result.rule.Name
		}
	}
	return nil
}

func (r *Result) confidence(l Level) string {
	switch {
	case l >= Table && r.FrameKnown:
		return "high"
	case l >= Opcodes || r.FrameKnown:
		return "medium"
	}
	return "low"
}

// Bind gives a Result that was stored the rules of its language again.
func (r *Result) Bind(cal *interp.Calibration) error {
	l := slices.Index(levelNames[:], r.Level)
	if l < 0 {
		return fmt.Errorf("unknown level %q", r.Level)
	}
	r.Dispatch.Level = Level(l)
	for i := range cal.Codes {
		if cal.Codes[i].Name == r.Code {
			r.rule = &cal.Codes[i]
		}
	}
	if r.Code != "" && r.rule == nil {
		return fmt.Errorf("the description has no code rule %s", r.Code)
	}
	return nil
}

// At prints the place in short.
func (r *Result) At() string {
	return fmt.Sprintf("%v %s %v %s", &r.Function, r.Kind, r.Location, signed(r.Delta))
}

// Write prints the result for people.
func (r *Result) Write(w io.Writer) {
	row := func(what, format string, args ...any) {
		fmt.Fprintf(w, "%-22s %s\n", what, fmt.Sprintf(format, args...))
	}
	row("language", "%s", r.Language)
	row("function", "%v, build %s", &r.Function, r.Function.BuildID)
	row("dispatch", "indirect %s, %d sites seen of %d in the function, %s", r.Kind, len(r.Sites), r.Branches, r.Level)
	at := r.Location.String()
	if r.Delta != 0 {
		at += " " + signed(r.Delta)
	}
	shape := "linear code"
	if !r.Linear {
		shape = "a list of operations"
	}
	row("program counter pc", "%s, %s", at, shape)
	row("opcode", "%s", r.Opcode)
	row("per statement", "%.2f operations", r.PerStatement)
	if r.FrameKnown {
		row("frame", "%v", r.Frame)
	} else {
		row("frame", "not found")
	}
	switch {
	case r.Code == "":
		row("code object", "no rule: steps have addresses")
	case r.rule != nil && r.rule.Object == nil:
		row("code object", "rule %s, from %v", r.Code, r.Object)
	default:
		row("code object", "rule %s", r.Code)
	}
	row("confidence", "%s", r.Confidence)
	for i, c := range r.RunnersUp {
		what := ""
		if i == 0 {
			what = "runners-up"
		}
		row(what, "%s", c)
	}
}
