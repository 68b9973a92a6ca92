package skew

import (
	"bytes"
	"fmt"
)

// A merger gives a replacement the fields that the service does not know.
type merger struct {
	explicit bool // the service says nothing, so that a field that it omits may be one that it does not know
}

// merge returns the value of the service, with the unknown fields of the value that it received.
func (m *merger) merge(path *step, sent, got *node) (*node, error) {
	if sent.form != got.form || sent.form == leaf {
		return got, lost(path, sent)
	}
	switch sent.form {
	case object:
		return m.object(path, sent, got)
	case table:
		return m.table(path, sent, got)
	}
	return m.list(path, sent, got)
}

// lost returns an error if a value that is gone has an unknown field. The elements of a list or a map that is gone take
// theirs away: a hook that removes all elements often leaves nil.
func lost(path *step, sent *node) error {
	if sent.unknown == nil || sent.form == list || sent.form == table {
		return nil
	}
	return fmt.Errorf("$.value%v: the reply loses the field $.payload%v, which the service does not know; build the "+
		"service with the spec of this program, or let it send {\"decision\":\"patch\"} with the fields that it changes",
		path, sent.unknown)
}

func (m *merger) object(path *step, sent, got *node) (*node, error) {
	out := &node{form: object, members: map[string]*node{}}
	for name, value := range got.members {
		if sent.members[name] == nil {
			out.members[name] = value
		}
	}
	for name, was := range sent.members {
		is, at := got.members[name], path.member(name)
		_, known := sent.fields[name]
		var err error
		switch {
		case !known && is != nil:
			return nil, fmt.Errorf("$.value%v: the service sends a field that its description does not have", at)
		case !known:
			out.members[name] = was
		case is == nil && m.explicit:
			return nil, missing(at)
		case is == nil:
			err = lost(at, was)
		default:
			out.members[name], err = m.merge(at, was, is)
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// missing is the error for a field that was sent and that a service without a description omits.
func missing(path *step) error {
	return fmt.Errorf("$.value%v: missing; a service without a description sends each field that it received, or "+
		"{\"decision\":\"patch\"} with the fields that it changes", path)
}

// table merges the entries of two maps. An entry that is gone takes its unknown fields away, unless it may have been
// moved to a new key.
func (m *merger) table(path *step, sent, got *node) (*node, error) {
	out := &node{form: table, members: map[string]*node{}}
	added := ""
	for key, value := range got.members {
		if was := sent.members[key]; was != nil {
			merged, err := m.merge(path.member(key), was, value)
			if err != nil {
				return nil, err
			}
			value = merged
		} else {
			added = key
		}
		out.members[key] = value
	}
	if len(out.members) == 0 || added == "" {
		return out, nil
	}
	for key, was := range sent.members {
		if got.members[key] == nil {
			if err := lost(path.member(added), was); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// list merges the elements of two lists. An element takes the unknown fields of the element that was sent and has an
// equal known part. A changed one takes those at its index if the list is as long as it was. An element that is gone
// takes its own away, unless one that cannot be assigned may be a change of it.
func (m *merger) list(path *step, sent, got *node) (*node, error) {
	from, err := m.assign(path, sent.items, got.items)
	if err != nil {
		return nil, err
	}
	out := &node{form: list, items: got.items[:0:0]}
	for i, item := range got.items {
		if from[i] >= 0 {
			if item, err = m.merge(path.item(i), sent.items[from[i]], item); err != nil {
				return nil, err
			}
		}
		out.items = append(out.items, item)
	}
	return out, nil
}

// assign returns for each element of got the index of its element in sent, or -1.
func (m *merger) assign(path *step, sent, got []*node) ([]int, error) {
	from := make([]int, len(got))
	used := make([]bool, len(sent))
	take := func(i, j int) { from[i], used[j] = j, true }
	equal := map[uint64][]int{} // indexes of sent by their known parts, the first one first
	first := map[uint64]int{}
	for j, s := range sent {
		if equal[s.known] == nil {
			first[s.known] = j
		}
		equal[s.known] = append(equal[s.known], j)
	}
	for i, g := range got { // first those that stay at their index
		from[i] = -1
		if i < len(sent) && sent[i].known == g.known {
			take(i, i)
		}
	}
	for i, g := range got { // then those that moved
		rest := equal[g.known]
		for len(rest) > 0 && used[rest[0]] {
			rest = rest[1:]
		}
		if equal[g.known] = rest; from[i] < 0 && len(rest) > 0 {
			take(i, rest[0])
		}
	}
	if len(got) == len(sent) {
		for i := range got {
			if from[i] < 0 && !used[i] {
				take(i, i)
			}
		}
	}
	for i, g := range got { // a copy of an element that stays
		if j, ok := first[g.known]; ok && from[i] < 0 {
			from[i] = j
		}
	}
	return from, m.checkRest(path, sent, got, from, used)
}

// checkRest returns an error if an element without a counterpart may be a change of one that was sent, or if it is not
// certain which of several equal elements is gone.
func (m *merger) checkRest(path *step, sent, got []*node, from []int, used []bool) error {
	kept := map[uint64][]byte{} // elements that stay, by their known parts
	fresh := -1                 // an element without a counterpart
	for i, j := range from {
		if j < 0 {
			fresh = i
		} else {
			kept[sent[j].known] = sent[j].raw
		}
	}
	for j, s := range sent {
		if used[j] {
			continue
		}
		if twin := kept[s.known]; fresh >= 0 || twin != nil && !bytes.Equal(twin, s.raw) {
			if err := lost(path.item(max(fresh, 0)), s); err != nil {
				return err
			}
		}
		if fresh < 0 || !m.explicit || got[fresh].form != object {
			continue
		}
		for name := range s.members {
			if got[fresh].members[name] == nil {
				return missing(path.item(fresh).member(name))
			}
		}
	}
	return nil
}

// patch returns a value that was sent with the changes of a JSON merge patch.
func (m *merger) patch(path *step, sent, change *node) (*node, error) {
	switch {
	case change.form == list && sent.form == list:
		return m.list(path, sent, change)
	case change.form != object && change.form != table, sent.form != change.form:
		return change, nil
	}
	out := &node{form: sent.form, members: map[string]*node{}}
	for name, value := range sent.members {
		out.members[name] = value
	}
	for name, value := range change.members {
		if string(value.raw) == "null" {
			delete(out.members, name)
			continue
		}
		if was := sent.members[name]; was != nil {
			var err error
			if value, err = m.patch(path.member(name), was, value); err != nil {
				return nil, err
			}
		}
		out.members[name] = value
	}
	return out, nil
}
