package redact

import "strings"

// A Stream redacts a text that arrives in pieces, for example the chunks of a streamed reply. A secret may begin in one
// piece and end in another; therefore the last part of the text is held back until more of it, or its end, is known.
// Make one with [Redactor.Stream]. A Stream is not safe for concurrent use.
type Stream struct {
	redactor *Redactor
	before   string // the end of the text that was returned, before redaction
	pending  []byte // the text that is held back
	next     int    // bytes of pending text from which it is read again, so that a long secret is not read for each piece
}

// Stream returns a Stream that redacts with r. The function Extra receives parts of the text.
func (r *Redactor) Stream() *Stream { return &Stream{redactor: r} }

const (
	streamContext = 2 << 10  // bytes of the text before, which can say that the next ones are secret
	streamMost    = 64 << 10 // bytes that are held back; of a longer secret, the middle is forgotten
)

// Add appends a piece and returns the redacted text that is certain, possibly none. At least the last 512 bytes are
// held back.
func (s *Stream) Add(piece string) string {
	s.pending = append(s.pending, piece...)
	if len(s.pending) < max(s.next, 2*windowEnd) {
		return ""
	}
	return s.take(len(s.pending) - windowEnd)
}

// End returns the redacted rest of the text and makes s ready for another text.
func (s *Stream) End() string {
	rest := s.take(len(s.pending))
	s.before = ""
	return rest
}

// take returns up to n bytes of the pending text, redacted. It does not divide a secret.
func (s *Stream) take(n int) string {
	all := s.before + string(s.pending)
	end := len(s.before) + n
	if n < len(s.pending) {
		if blank := strings.LastIndexAny(all[:end], " \n"); blank > end-100 && blank >= len(s.before) {
			end = blank + 1
		}
		end = max(runeStart(all, end), len(s.before))
	}
	found := s.redactor.spans(all, all)
	for _, p := range found {
		if p.from < end && end < p.to {
			end = max(p.from, len(s.before))
		}
	}
	if end == len(s.before) {
		if len(s.pending) > streamMost { // a secret without an end
			s.pending = append(s.pending[:windowEnd], s.pending[len(s.pending)-windowEnd:]...)
		}
		s.next = 2 * len(s.pending)
		return ""
	}
	s.next = 0
	var b strings.Builder
	done := len(s.before)
	for _, p := range found {
		if p.to <= done || p.from >= end {
			continue
		}
		if p.from >= done {
			b.WriteString(all[done:p.from])
			b.WriteString(s.redactor.mark(p.kind, all[p.from:p.to]))
		}
		done = p.to
	}
	b.WriteString(all[min(done, end):end])
	s.before, s.pending = all[max(0, end-streamContext):end], append(s.pending[:0], all[end:]...)
	if s.redactor.Extra != nil {
		return s.redactor.applyExtra(b.String())
	}
	return b.String()
}
