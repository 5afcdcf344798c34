// Package device is the engine's half of the guest device protocol's wire form
// (docs/device-protocol.md): request lines to typed requests, replies to lines,
// and the typed tree of inputs that requests declare. It has no engine logic and
// no state.
//
//	req, err := device.Parse(line)         // one write(2) of the guest
//	if err != nil { reply = device.Err(err.Error()) }
//	switch req.Verb {
//	case device.VerbBegin:
//		reply = device.OK()
//	case device.VerbInput:
//		reply = device.OK(id, length)      // after giving req.Input its ID
//	}
//
// Parse requires exactly one line ending in '\n' and accepts nothing the protocol
// does not describe; Request.Format is its inverse.
package device
