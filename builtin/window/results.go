package window

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/hookgen/hookgen/builtin/internal/conversation"
	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
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

// A draft holds the messages of a request while their tool results are shortened.
type draft struct {
	messages []agent.Message
	own      bool     // messages is a private copy
	changes  []string // described for the reason of the replacement
}

// set replaces the body of a message and removes its attachments.
func (d *draft) set(i int, body string) {
	if !d.own {
		d.messages, d.own = slices.Clone(d.messages), true
	}
	d.messages[i].Content, d.messages[i].Parts = body, nil
}

func (d *draft) note(n int, change string) {
	if n > 0 {
		d.changes = append(d.changes, fmt.Sprintf("%d results %s", n, change))
	}
}

// summarise replaces each result that is followed by at least n steps with a summary. store stores the full text and
// returns the note to append to the first line of the summary.
func (d *draft) summarise(n int, store func(body string) string) {
	done := 0
	for _, turn := range slices.Backward(conversation.Split(d.messages).Turns) {
		if turn.Calls == 0 {
			continue
		}
		if n > 0 {
			n--
			continue
		}
		for i := turn.From + 1; i < turn.To; i++ {
			m := d.messages[i]
			if strings.HasPrefix(m.Content, summaryPrefix) && len(m.Content) <= maxSummaryBytes {
				continue
			}
			if short := resultSummary(m.Content, ""); len(short)+minSaved < len(m.Content) || len(m.Parts) > 0 {
				d.set(i, resultSummary(m.Content, store(m.Content)))
				done++
			}
		}
	}
	d.note(done, "summarised")
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

// truncateResults truncates results that are longer than n characters.
func (d *draft) truncateResults(n int) {
	done := 0
	for i, m := range d.messages {
		if m.Role != agent.RoleTool || len(m.Content) <= n {
			continue
		}
		if body := shorten.WithNote(m.Content, n, ""); body != m.Content {
			parts := m.Parts
			d.set(i, body)
			d.messages[i].Parts = parts
			done++
		}
	}
	d.note(done, "cut")
}

// blankOver blanks the oldest results while all results together have more than n characters.
func (d *draft) blankOver(n int) {
	total := 0
	for _, m := range d.messages {
		if m.Role == agent.RoleTool {
			total += utf8.RuneCountInString(m.Content)
		}
	}
	done := 0
	for i := 0; i < len(d.messages) && total > n; i++ {
		if size := utf8.RuneCountInString(d.messages[i].Content); d.blankable(i) && size > len(blankedMarker) {
			d.set(i, blankedMarker)
			total -= size - len(blankedMarker)
			done++
		}
	}
	d.note(done, "blanked")
}

// blankUntil blanks results, oldest first, until the messages fit. It does not touch the turns that contain the last
// keep messages.
func (d *draft) blankUntil(keep int, fits func([]agent.Message) bool) {
	t := conversation.Split(d.messages)
	end := len(d.messages)
	if first := t.LastMessages(keep); first < len(t.Turns) {
		end = t.Turns[first].From
	}
	var older []int
	for i := range end {
		if d.blankable(i) {
			older = append(older, i)
		}
	}
	blanked := func(n int) draft {
		try := draft{messages: d.messages}
		for _, i := range older[:n] {
			try.set(i, blankedMarker)
		}
		return try
	}
	n := sort.Search(len(older), func(n int) bool { return fits(blanked(n).messages) })
	if n > 0 {
		d.messages, d.own = blanked(n).messages, true
	}
	d.note(n, "blanked")
}

// blankable reports whether a message is a tool result that is longer than the marker.
func (d *draft) blankable(i int) bool {
	m := d.messages[i]
	return m.Role == agent.RoleTool && (len(m.Content) > len(blankedMarker) || len(m.Parts) > 0)
}
