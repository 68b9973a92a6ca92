package eventpage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// dataOf returns the data in a page, and checks that the rest of the page is the template.
func dataOf(t testing.TB, page string) fileData {
	t.Helper()
	before, after, ok := strings.Cut(page, `<script id="data" type="application/json">`)
	text, rest, ok2 := strings.Cut(after, "</script>")
	if !ok || !ok2 || rest != "\n<script>"+pageJS+"</script>\n</body>\n</html>\n" {
		t.Fatal("the page does not end with its data and its script")
	}
	if want := strings.Replace(strings.Replace(strings.Split(pageHTML, `<script id="data"`)[0], "{{policy}}", policy(), 1),
		"{{style}}", pageCSS, 1); before != want {
		t.Fatal("the page does not begin as it should")
	}
	if strings.ContainsAny(text, "<>&\u2028\u2029") {
		t.Error("the data has characters with a meaning in HTML or JavaScript")
	}
	var d fileData
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestWrite(t *testing.T) {
	child := event(2, "b", "P", `"the child"`)
	child.Run.Parent = "a"
	x := indexOf(t, event(1, "a", "P", `{"task":"a task"}`), child, event(3, "c", "P", "1"),
		event(4, "a", "Q", `{"stop":{"cause":"completed"},"usage":{"cost":0.5,"input_tokens":3}}`))
	for _, c := range []struct {
		name string
		runs []int
		want string // runs, and events
	}{
		{"everything", nil, "c a; 0 1 2 3"},
		{"one run", []int{0}, "a; 0 1 3"},
		{"a run that another one started", []int{1}, "b; 1"},
		{"a run twice", []int{2, 2}, "c c; 2"},
		{"an unknown run", []int{9}, "; "},
	} {
		t.Run(c.name, func(t *testing.T) {
			var page bytes.Buffer
			if err := Write(&page, x, "name", c.runs...); err != nil {
				t.Fatal(err)
			}
			d := dataOf(t, page.String())
			var runs, events []string
			for _, r := range d.Runs {
				runs = append(runs, r.ID)
			}
			for n := range 5 {
				if _, ok := d.Fires[n]; ok {
					events = append(events, fmt.Sprint(n))
				}
			}
			if got := strings.Join(runs, " ") + "; " + strings.Join(events, " "); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("summary", func(t *testing.T) {
		var page bytes.Buffer
		if err := Write(&page, x, "name", 0); err != nil {
			t.Fatal(err)
		}
		s := dataOf(t, page.String()).Pages[0].Summary
		if s.Name != "a task" || s.Cause != "completed" || s.Cost == nil || *s.Cost != 0.5 || s.Input != 3 {
			t.Errorf("got %+v", s)
		}
	})
}

func TestWriteRefusesLargeRecords(t *testing.T) {
	var events []hooklog.Event
	for i := range int64(40) {
		events = append(events, event(i, "a", "P", `"`+strings.Repeat("x", 1<<20)+`"`))
	}
	var page bytes.Buffer
	err := Write(&page, indexOf(t, events...), "name")
	if !errors.Is(err, ErrTooLarge) || page.Len() > 0 {
		t.Errorf("got the error %v and %d bytes", err, page.Len())
	}
}

// TestScriptParsesNoHTML looks for the ways in which a script can make elements of a text.
func TestScriptParsesNoHTML(t *testing.T) {
	ways := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacent|document\.write|DOMParser|createContextualFragment|` +
		`srcdoc|\beval\b|new Function|javascript:`)
	if found := ways.FindAllString(pageJS, -1); found != nil {
		t.Errorf("the script uses %q", found)
	}
	others := regexp.MustCompile(`(?i)https?:|//\w|@import|url\(|\son\w+=`)
	if found := others.FindString(pageHTML + pageCSS); found != "" {
		t.Errorf("the page has %q", found)
	}
}

// FuzzWrite embeds an event that somebody wrote into a page.
func FuzzWrite(f *testing.F) {
	f.Add("</script><script>alert(1)</script>", `{"</script>":"<!--"}`, "a")
	f.Add("\u2028 \u202e", `"\ud800"`, "{{script}}")
	f.Fuzz(func(t *testing.T, text, payload, name string) {
		if len(text) > 1000 || !json.Valid([]byte(payload)) {
			return
		}
		e := event(1, text, text+"P", payload)
		e.Decision, e.By, e.Site, e.Reason, e.Error = text+"D", text, text, text, text
		e.Value, e.Final, e.Collected = e.Payload, e.Payload, e.Payload
		e.Failures = []hooklog.Failure{{By: text, Site: text, Cause: text}}
		e.Slow = []hooklog.SlowHook{{By: text, Site: text}}
		e.Ballots = []hooklog.Ballot{{By: text, Site: text, Decision: text, Reason: text, Value: e.Payload}}
		x := indexOf(t, e)
		var page bytes.Buffer
		if err := Write(&page, x, name); err != nil {
			t.Fatal(err)
		}
		d := dataOf(t, page.String())
		if len(d.Fires) != x.Status().Events || len(d.Runs) != x.Status().Runs {
			t.Errorf("%d fires and %d runs", len(d.Fires), len(d.Runs))
		}
	})
}
