package modelhttp

import (
	"io"
	"slices"
	"strings"
	"testing"
)

// events reads all events of a text.
func events(r io.Reader, limit int64) (got []string, err error) {
	l := newLines(r, limit)
	for {
		e, err := l.event(func() {})
		if err == io.EOF {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		got = append(got, e.Type+":"+string(e.Data))
	}
}

func TestEvents(t *testing.T) {
	long := strings.Repeat("x", 9000)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"nothing":                {"", nil},
		"one":                    {"data: 1\n\n", []string{":1"}},
		"with types":             {"event: a\ndata: 1\n\nevent: b\ndata: 2\n\n", []string{"a:1", "b:2"}},
		"the type is not kept":   {"event: a\ndata: 1\n\ndata: 2\n\n", []string{"a:1", ":2"}},
		"a type without data":    {"event: a\n\ndata: 2\n\n", []string{":2"}},
		"no space":               {"data:1\n\n", []string{":1"}},
		"one space is removed":   {"data:  1 \n\n", []string{": 1 "}},
		"carriage returns":       {"event: a\r\ndata: 1\r\n\r\n", []string{"a:1"}},
		"several lines":          {"data: 1\ndata: 2\n\n", []string{":1\n2"}},
		"comments":               {": hello\n\n:\ndata: 1\n: more\n\n", []string{":1"}},
		"unknown fields":         {"id: 7\nretry: 3\ndata: 1\nnonsense\n\n", []string{":1"}},
		"a byte order mark":      {"\ufeffdata: 1\n\n", []string{":1"}},
		"no empty line at end":   {"data: 1\n\ndata: [DONE]\n", []string{":1", ":[DONE]"}},
		"a line without an end":  {"data: 1\n\ndata: 2", []string{":1"}},
		"empty data":             {"data:\n\n", []string{":"}},
		"longer than the buffer": {"data: " + long + "\n\n", []string{":" + long}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := events(strings.NewReader(c.text), DefaultLimit)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// slowly returns one byte for each read.
type slowly struct{ r io.Reader }

func (s slowly) Read(p []byte) (int, error) { return s.r.Read(p[:min(1, len(p))]) }

func FuzzEvents(f *testing.F) {
	for _, seed := range []string{
		"data: 1\n\n", "event: a\r\ndata: 1\r\n\r\n", ": c\n\ndata:\n", "\ufeffdata: 1\n\ndata: 2", "data: 1\n\n\n\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const limit = 1000
		whole, err := events(strings.NewReader(text), limit)
		pieces, errPieces := events(slowly{strings.NewReader(text)}, limit)
		if !slices.Equal(whole, pieces) || (err == nil) != (errPieces == nil) {
			t.Errorf("at once: %q, %v; byte by byte: %q, %v", whole, err, pieces, errPieces)
		}
		if (err != nil) != (len(text) > limit) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
		for _, e := range whole {
			if len(e) > limit {
				t.Errorf("an event has %d bytes", len(e))
			}
		}
	})
}
