package redact

import (
	"cmp"
	"slices"
	"strings"
)

// A span is a part of a text that must be replaced.
type span struct {
	from, to int
	kind     string // in the mark; "" if only a name says that the part is secret
}

// replace returns s with a mark for each span. The spans are in order and do not overlap.
func (r *Redactor) replace(s string, spans []span) string {
	var b strings.Builder
	b.Grow(len(s))
	done := 0
	for _, p := range spans {
		b.WriteString(s[done:p.from])
		b.WriteString(r.mark(p.kind, s[p.from:p.to]))
		done = p.to
	}
	b.WriteString(s[done:])
	return b.String()
}

// merge sorts spans and joins those that overlap. For example, a token after a name has the kind of the token.
func merge(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	merged := spans[:0]
	for _, p := range spans {
		if n := len(merged); n > 0 && p.from < merged[n-1].to {
			merged[n-1].to, merged[n-1].kind = max(merged[n-1].to, p.to), cmp.Or(merged[n-1].kind, p.kind)
			continue
		}
		if p.from < p.to {
			merged = append(merged, p)
		}
	}
	return merged
}

// add merges spans, which are merged, with the others that overlap none of them.
func add(spans, others []span) []span { return merge(append(spans, without(merge(others), spans)...)) }

// without returns the spans that overlap none of others. Both lists are sorted.
func without(spans, others []span) []span {
	kept := spans[:0]
	for _, p := range spans {
		for len(others) > 0 && others[0].to <= p.from {
			others = others[1:]
		}
		if len(others) == 0 || others[0].from >= p.to {
			kept = append(kept, p)
		}
	}
	return kept
}

// find returns the spans of a text that the built-in rules replace. If s is the beginning of a larger text, whole is
// that text: its end may say that the values of s are secret. A secret that is complete before a color ends there.
func (r *Redactor) find(s, whole string) []span {
	found, divides := r.findIn(s, whole, false)
	if !divides {
		return found
	}
	joined, _ := r.findIn(s, whole, true)
	return add(found, joined)
}

// findIn is find in the views of s: the text as a reader sees it, and the texts that its escapes stand for. Each finder
// reads a view once, so that the time is linear in the length of the text. divides reports whether invisible texts
// divide words; with joined, such words are one, and only the last view is read.
func (r *Redactor) findIn(s, whole string, joined bool) (found []span, divides bool) {
	var views []view
	for level := 0; ; level++ {
		v := viewOf(s, joined)
		views, divides = append(views, v), divides || v.divides
		plain, encoded := decode(v.text)
		encoded = encoded && level < maxEncodings
		if level < 2 && !joined || !encoded { // a text that is encoded more often is read when it is decoded
			spans := r.findPlain(v.text, whole)
			if encoded {
				skipEscapes(v.text, spans)
			}
			for _, v := range slices.Backward(views) {
				spans = v.origins(spans)
			}
			found = append(found, spans...)
		}
		if !encoded {
			return merge(found), divides
		}
		views, s, whole = append(views, plain), plain.text, plain.text
	}
}

// skipEscapes moves the beginning of spans to the end of the escape that contains it. For example, the letter of a \t
// before a token does not belong to it.
func skipEscapes(s string, spans []span) {
	for i, p := range spans {
		begin := strings.LastIndexByte(s[max(0, p.from-5):p.from], '\\')
		if begin >= 0 {
			begin += max(0, p.from-5)
			_, size := escapeAt(s, begin, false)
			spans[i].from = min(max(p.from, begin+size), p.to)
		}
	}
}

// findPlain is find in one view.
func (r *Redactor) findPlain(s, whole string) []span {
	n := named{
		s: s, r: r, names: make(map[string]nameInfo), verdicts: make(map[verdict]bool),
		read: make(map[*passwordFlag]int),
	}
	if !r.KeepSecrets {
		n.found = appendPrivateKeys(n.found, s)
		n.found = appendURLSecrets(n.found, s)
		n.found = appendTokens(n.found, s)
	}
	n.elements()
	n.found = merge(n.found)
	n.assignments(whole, slices.Clone(n.found))
	secrets := merge(n.found)
	if r.Network {
		secrets = add(secrets, appendNetwork(nil, s))
	}
	if !r.KeepPersonal { // For example, the host of https://user:pa@ss@example.org is not a part of an e-mail address.
		secrets = add(secrets, appendPersonal(nil, s))
	}
	return secrets
}

// spans is find with the spans that Patterns replace.
func (r *Redactor) spans(s, whole string) []span {
	found := r.find(s, whole)
	for _, p := range r.Patterns {
		for _, at := range p.FindAllStringIndex(s, -1) {
			found = append(found, span{at[0], at[1], ""})
		}
	}
	return merge(found)
}
