package window

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/generated/agent"
)

const (
	blankedMarker = "(truncated by context window manager)"
	summaryPrefix = "[earlier result: "

	maxItemShown    = 160
	maxTextShown    = 500
	minSaved        = 60                                  // bytes; a summary must save at least this many
	maxSummaryBytes = 4 * (3*maxItemShown + maxTextShown) // upper bound of a summary
)

// shortened records how the last request of a run was shortened. The next request is shortened in the same way, so that
// it repeats the beginning of the last one.
type shortened struct {
	summarised, blanked place // the last message before which results are summarised or blanked
	cut                 cut
}

// A draft holds the messages of a request while their tool results are shortened.
type draft struct {
	messages []agent.Message
	own      bool // messages is a private copy

	summarised, blanked int // the results of the first so many messages are summarised or blanked
	cut                 cut

	summaries, blanks int // of results, in this request
}

// newDraft returns a draft of a request. was describes the request before.
func newDraft(messages []agent.Message, was shortened) draft {
	return draft{
		messages:   messages,
		summarised: was.summarised.Index(messages) + 1,
		blanked:    was.blanked.Index(messages) + 1,
		cut:        was.cut,
	}
}

// shortened returns the record for the next request. messages are those of the request before it was shortened.
func (d *draft) shortened(messages []agent.Message) (s shortened) {
	if d.summarised > 0 {
		s.summarised = placeOf(messages, d.summarised-1)
	}
	if d.blanked > 0 {
		s.blanked = placeOf(messages, d.blanked-1)
	}
	s.cut = d.cut
	return s
}

// set replaces the body of a message and removes its attachments.
func (d *draft) set(i int, body string) {
	if !d.own {
		d.messages, d.own = slices.Clone(d.messages), true
	}
	d.messages[i].Content, d.messages[i].Parts = body, nil
}

// changes describes the changes for the reason of the replacement.
func (d *draft) changes() (changes []string) {
	for _, c := range []struct {
		n    int
		what string
	}{{d.summaries, "summarised"}, {d.blanks, "blanked"}} {
		if c.n > 0 {
			changes = append(changes, fmt.Sprintf("%d results %s", c.n, c.what))
		}
	}
	return changes
}

// defaultFullFor is the default of Guard.FullFor.
const defaultFullFor = 3

// summaryDue returns the index of the message before which all results are to be summarised now. Many are summarised at
// once: if fullFor is set, the results of as many steps, and otherwise those of all old steps when the request is long.
func (d *draft) summaryDue(fullFor limit.Bound[int], long func() bool) int {
	keep := fullFor.Or(defaultFullFor)
	turns := split(d.messages).Turns
	to, due := 0, 0
	for _, turn := range slices.Backward(turns) {
		switch {
		case turn.Calls == 0:
		case keep > 0:
			keep--
		case turn.From >= d.summarised:
			to, due = max(to, turn.To), due+1
		}
	}
	if due == 0 || fullFor != 0 && due < fullFor.Or(0) || fullFor == 0 && !long() {
		return 0
	}
	return to
}

// summarise replaces each result before the message at index to by a summary. store stores the full text and returns
// the note to append to the first line of the summary.
func (d *draft) summarise(to int, store func(body string) string) {
	for i, m := range d.messages[:min(to, len(d.messages))] {
		if m.Role != agent.RoleTool || strings.HasPrefix(m.Content, summaryPrefix) && len(m.Content) <= maxSummaryBytes {
			continue
		}
		if short := resultSummary(m.Content, ""); len(short)+minSaved < len(m.Content) || len(m.Parts) > 0 {
			d.set(i, resultSummary(m.Content, store(m.Content)))
			d.summaries++
		}
	}
}

// resultSummary describes the kind and size of a result and shows its beginning.
func resultSummary(body, extra string) string {
	var list []json.RawMessage
	trimmed := strings.TrimSpace(body)
	if strings.HasPrefix(trimmed, "[") && json.Unmarshal([]byte(trimmed), &list) == nil {
		text := fmt.Sprintf("%slist of %d items%s]", summaryPrefix, len(list), extra)
		for _, item := range list[:min(len(list), 3)] {
			text += "\n- " + shorten.JSON(item, maxItemShown)
		}
		return text
	}
	if jsonx.IsContainer(trimmed) {
		all, _ := jsonx.Members([]byte(trimmed), -1)
		text := fmt.Sprintf("%sobject of %d fields%s]", summaryPrefix, len(all), extra)
		for _, m := range all[:min(len(all), 3)] {
			text += "\n- " + shorten.Line(m.Key, shorten.KeyChars) + ": " + shorten.JSON(m.Value, maxItemShown)
		}
		return text
	}
	return fmt.Sprintf("%stext of %d characters%s]\n%s", summaryPrefix, utf8.RuneCountInString(body), extra,
		shorten.To(body, maxTextShown))
}

// blank blanks all results before the message at index to.
func (d *draft) blank(to int) {
	for i := range d.messages[:min(to, len(d.messages))] {
		if d.blankable(i) {
			d.set(i, blankedMarker)
			d.blanks++
		}
	}
}

// resultChars returns the characters of all results together.
func resultChars(messages []agent.Message) (n int) {
	for _, m := range messages {
		if m.Role == agent.RoleTool {
			n += utf8.RuneCountInString(m.Content)
		}
	}
	return n
}

// blankUntil blanks results, oldest first, until the messages fit. It does not touch the turns that contain the last
// keep messages.
func (d *draft) blankUntil(keep int, fits func([]agent.Message) bool) {
	t := split(d.messages)
	end := len(d.messages)
	if first := t.lastMessages(keep); first < len(t.Turns) {
		end = t.Turns[first].From
	}
	var older []int
	for i := range end {
		if d.blankable(i) {
			older = append(older, i)
		}
	}
	upTo := func(n int) int {
		if n == 0 {
			return 0
		}
		return older[n-1] + 1
	}
	n := sort.Search(len(older), func(n int) bool {
		try := draft{messages: d.messages}
		try.blank(upTo(n))
		return fits(try.messages)
	})
	d.blanked = max(d.blanked, upTo(n))
	d.blank(upTo(n))
}

// blankable reports whether a message is a tool result that is longer than the marker.
func (d *draft) blankable(i int) bool {
	m := d.messages[i]
	return m.Role == agent.RoleTool && (len(m.Content) > len(blankedMarker) || len(m.Parts) > 0)
}
