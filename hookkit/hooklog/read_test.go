package hooklog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// line returns the line for an event, without a line break.
func line(e hooklog.Event) string {
	text, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// TestReadReportsDamage reads logs with a good first line and a good last one, and others between or after them.
func TestReadReportsDamage(t *testing.T) {
	first, last := line(event(1, "a")), line(event(2, "b"))
	newer := event(1, "c")
	newer.Protocol = wire.Protocol + 1
	other := strings.Replace(first, `"point":"BeforeSend"`, `"point":""`, 1)
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"two events", first + "\n" + last + "\n", "1 2"},
		{"no last line break", first + "\n" + last, "1 2"},
		{"empty lines", "\n" + first + "\r\n\n \n" + last + "\n\n", "1 2"},
		{"a half-written last line", first + "\n" + last[:30], "1 line 2: it is incomplete"},
		{"a half-written line", first + "\n" + first[:30] + "\n" + last + "\n", "1 line 2: it is not an event 2"},
		{"two writers in one line", first[:30] + first + "\n" + first[30:] + "\n" + last + "\n",
			"line 1: it is not an event line 2: it is not an event 2"},
		{"two events in one line", first + first + "\n" + last + "\n", "line 1: it is not an event 2"},
		{"zeros of a power failure", first + "\n" + strings.Repeat("\x00", 512) + "\n" + last + "\n",
			"1 line 2: it is not an event 2"},
		{"another version", first + "\n" + line(newer) + "\n" + last + "\n",
			"1 line 2: it was written by version 2 of the protocol, and this program has version 1 2"},
		{"another JSON object", first + "\n{}\n" + last, "1 line 2: it is not an event 2"},
		{"another JSON value", "null\n[1]\n\"\"\n" + last,
			"line 1: it is not an event line 2: it is not an event line 3: it is not an event 2"},
		{"no point", other + "\n" + last, "line 1: it is not an event 2"},
		{"a long line", first + "\n" + strings.Repeat("x", hooklog.MaxLine+100) + "\n" + last,
			fmt.Sprintf("1 line 2: it has %d bytes, more than %d 2", hooklog.MaxLine+100, hooklog.MaxLine)},
		{"events out of order", last + "\n" + first + "\n" + last + "\n", "2 1 2"},
		{"two specs", strings.Replace(first, "example.com/mail", "other", 1) + "\n" + last + "\n", "1 2"},
		{"an unknown field", strings.Replace(first, "{", `{"new":[1],`, 1), "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for e, err := range hooklog.Read(strings.NewReader(c.text)) {
				if err == nil {
					got = append(got, fmt.Sprint(e.Seq))
					continue
				}
				text, _, _ := strings.Cut(err.Error(), "; ")
				head := strings.SplitN(text, ": ", 3)
				got = append(got, strings.Join(head[:2], ": "))
				if lineOf(err) == 0 {
					t.Errorf("%v has no line number", err)
				}
				if incomplete := strings.Contains(text, "incomplete"); incomplete != errors.Is(err, io.ErrUnexpectedEOF) {
					t.Errorf("%v: io.ErrUnexpectedEOF does not say the same", err)
				}
				if !reflect.DeepEqual(e, hooklog.Event{}) {
					t.Errorf("an event with the error: %+v", e)
				}
			}
			if got := strings.Join(got, " "); got != c.want {
				t.Errorf("read %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestReadEndsWithTheReader(t *testing.T) {
	broken := errors.New("broken disk")
	var got []error
	for _, err := range hooklog.Read(fileEnd{strings.NewReader(line(event(1, "")) + "\n" + `{"p`), broken}) {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], broken) || lineOf(got[1]) != 2 {
		t.Errorf("read %v", got)
	}
}

func TestReadCanStopAtAnyLine(t *testing.T) {
	text := line(event(1, "")) + "\nx\n" + line(event(2, "")) + "\n"
	for stop := 1; stop <= 3; stop++ {
		n := 0
		for range hooklog.Read(strings.NewReader(text)) {
			if n++; n == stop {
				break
			}
		}
		if n != stop {
			t.Errorf("stopped after %d lines, want %d", n, stop)
		}
	}
}

// TestReadReadsAShrinkingFile truncates a file while it is read, at each part of an event. All events
// before the cut are read, and a cut event is reported.
func TestReadReadsAShrinkingFile(t *testing.T) {
	const events = 2000
	l, path := openLog(t)
	size := []int64{0} // of the file, after each event
	for i := range int64(events) {
		write(t, l, event(i+1, strings.Repeat("x", 100)))
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		size = append(size, info.Size())
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		to   int64
	}{
		{"to the event that is read", size[10]},
		{"to nothing", 0},
		{"between two events", size[events-100]},
		{"within an event", size[events-100] + 20},
		{"before a line break", size[events-100] - 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = f.Close() }()
			last, cut := int64(0), 0
			for e, err := range hooklog.Read(f) {
				switch {
				case errors.Is(err, io.ErrUnexpectedEOF) && lineOf(err) == int(last)+1:
					cut++
				case err != nil || e.Seq != last+1:
					t.Fatalf("event %d after %d, %v", e.Seq, last, err)
				default:
					last = e.Seq
				}
				if last == 10 {
					if err := os.Truncate(path, c.to); err != nil {
						t.Skip(err) // Windows
					}
				}
			}
			want := int64(0) // the events that are still whole
			for want < events && size[want+1]-1 <= c.to {
				want++
			}
			if last < max(10, want) || cut > 1 || last == events {
				t.Errorf("%d events were read and %d cut, want at least %d", last, cut, want)
			}
		})
	}
}

// endless is a line of a gigabyte.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), e.left)
	e.left -= n
	if n == 0 {
		return 0, io.EOF
	}
	clear(p[:n])
	return n, nil
}

func TestLongLinesNeedLittleMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found := 0
	for _, err := range hooklog.Read(io.MultiReader(&endless{1 << 30}, strings.NewReader("\n"+line(event(1, ""))))) {
		if err != nil {
			found++
		}
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; found != 1 || used > 8*hooklog.MaxLine {
		t.Errorf("%d errors, %d bytes of memory", found, used)
	}
}

func TestReadLinesYieldsTheTexts(t *testing.T) {
	first, last := line(event(1, "a")), " "+strings.Replace(line(event(2, "b")), "{", `{"later":1,`, 1)
	var got []string
	for l, err := range hooklog.ReadLines(strings.NewReader("\n" + first + "\r\n{\n" + last)) {
		if err != nil {
			got = append(got, fmt.Sprintf("%d error", lineOf(err)))
			continue
		}
		got = append(got, fmt.Sprintf("%d %s", l.Number, l.Text), fmt.Sprint(l.Event.Seq))
	}
	if want := []string{"2 " + first, "1", "3 error", "4 " + strings.TrimSpace(last), "2"}; !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%q\nwant\n%q", got, want)
	}
}

// FuzzRead reads any text: Read yields one result per line at most, and events that it yields can be written and
// read again.
func FuzzRead(f *testing.F) {
	good := line(event(1, "a"))
	for _, s := range []string{
		"", "\n", good, good + "\n" + good + "\n", good[:20], good[:20] + "\n" + good, good + good, "null", "\x00\x00\n",
		`{"protocol":1,"spec":"s","point":"p","payload":null,"decision":"Stop","value":{"a":1e999},"ballots":[{}]}`,
		`{"protocol":9,"spec":"s","point":"p","payload":{},"decision":"x"}`, `{"PROTOCOL":1,"payload":1}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		results, last := 0, 0
		for e, err := range hooklog.Read(bytes.NewReader(text)) {
			results++
			if err != nil {
				if n := lineOf(err); n <= last || n > bytes.Count(text, []byte("\n"))+1 {
					t.Errorf("line %d is after line %d: %v", n, last, err)
				}
				last = lineOf(err)
				continue
			}
			var b bytes.Buffer
			if err := hooklog.Lines(&b).WriteEvent(t.Context(), e); err != nil {
				t.Errorf("an event cannot be written: %v", err)
			}
			for again, err := range hooklog.Read(&b) {
				if err != nil || line(again) != line(e) {
					t.Errorf("read again, %s is %s, %v", line(e), line(again), err)
				}
			}
		}
		if most := bytes.Count(text, []byte("\n")) + 1; results > most {
			t.Errorf("%d results of %d lines", results, most)
		}
	})
}
