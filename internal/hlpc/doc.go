// Package hlpc finds the high-level program counter of an interpreter in its binary, and follows it.
//
//	r, err := hlpc.Calibrate(cfg, cal, true)        // cal: a description of internal/interp
//	t := &hlpc.Tracer{Result: r, Cursor: &hlpc.Cursor{}, OnStep: func(sys *kernel.System, s *hlpc.Step) { ... }}
//	t.Attach(m)                               // an exec.Machine
//
// # Calibration
//
// CHEF (Bucur et al., ASPLOS 2014, section 3.1) has the interpreter's author report the high-level program counter
// (HLPC). The thesis (Bucur 2015, section 4.2) looks for it among the words that the interpreter writes. Here the
// places sampled are registers and cells at indirect branches, since an optimised interpreter keeps it in a
// register and dispatches by one:
//
//  1. A script (interp.Calibration) is run up to its first window; every pass goes on from there.
//  2. recorder samples the places at each indirect jump and call, by function (.eh_frame) and kind.
//  3. Candidates keeps the places whose values are pointers, grow with the statements of the script, repeat with its
//     loop, and point to what nobody writes. If that gives none that is verified, cells that registers point to are
//     sampled as well.
//  4. explain looks for the opcode: a part of what the place points to that determines the branch's target by a table
//     in memory, or is the target. Nothing but the true place passes that test on all events.
//  5. Frames are the places that change last in, first out, when the script recurses. The description's rules for code
//     objects are tried on them with a Tracer; a rule that does not begin at the frame, on every register and cell.
//
// Steps 3 to 5 are pure functions of what the passes recorded.
//
// Glossary: b a branch (the indirect jumps or calls of one function), w a window, e an event, l a place, v its value,
// pc the HLPC, bias what is added to a module's addresses in a process.
package hlpc
