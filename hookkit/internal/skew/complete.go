package skew

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/hookkit/wire"
)

// Complete returns a reply whose replacement, edit or patch has all fields of the value that was sent. Here are the
// types of the point in this program, and there those in the service. If there is nil, the service does not say what
// it knows.
//
// For example, a service was built before the field Priority was added. It replaces a message, and its reply has no
// Priority. Then the replacement keeps the Priority that was sent. The program cannot know this of a service that says
// nothing, so such a service must send every field, or a patch.
//
// The error names the path of a field that would be lost.
func Complete(r wire.Reply, here, there *Types, sent json.RawMessage) (wire.Reply, error) {
	if r.Value == nil || !json.Valid(r.Value) {
		return r, errors.New("$.value: missing, or not JSON")
	}
	patching := r.Decision == wire.Patch
	var m merger
	if there == nil || patching {
		m.explicit, there = true, here
	}
	t := there.payload
	if r.Decision == wire.Edit {
		t = there.edit
	}
	before, err := read(sent, t, patching)
	if err != nil {
		return r, fmt.Errorf("the value that was sent cannot be read: %w", err)
	}
	after, err := read(r.Value, t, patching)
	if err != nil {
		return r, err
	}
	if patching {
		r.Decision = wire.Replace
		after, err = m.patch(nil, before, after)
	} else {
		after, err = m.merge(nil, before, after)
	}
	if err != nil {
		return r, err
	}
	var out bytes.Buffer
	after.write(&out)
	r.Value = out.Bytes()
	return r, nil
}

// write writes the JSON of a node. A node without raw text was merged.
func (n *node) write(out *bytes.Buffer) {
	switch {
	case n.raw != nil:
		out.Write(n.raw)
	case n.form == list:
		out.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				out.WriteByte(',')
			}
			item.write(out)
		}
		out.WriteByte(']')
	default:
		out.WriteByte('{')
		for i, key := range sortedKeys(n.members) {
			if i > 0 {
				out.WriteByte(',')
			}
			text, _ := json.Marshal(key) // a string has no error
			out.Write(append(text, ':'))
			n.members[key].write(out)
		}
		out.WriteByte('}')
	}
}
