package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// highlights must appear in the output of the tour in this order.
var highlights = []string{
	"== 1 of 8", "//hookgen:points", "BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)",
	"== 2 of 8", "$ hookgen mail", "wrote mail/hooks_gen.go: 3 points", "$ go doc", "type BeforeSend[P any] interface {",
	"func (p *BeforeSendPoint) FireBy(", "payload *Message,",
	"== 3 of 8", "func (l Limit) BeforeSend(", "$ go build ./limit\n\n",
	"== 4 of 8",
	"mail.Junk does not implement mail.BeforeSendOutcome",
	"want BeforeSend(context.Context, *mail.Run, mail.Message) (mail.BeforeSendOutcome, error)",
	"Limit does not implement mail.BeforeSend[mail.Message] (missing method BeforeSend)",
	"undefined: mail.ReplaceOnSent",
	"== 5 of 8", "$ go run .", "sent: Good morning -- Ada", "not sent: refused by limit.Limit: too long",
	"1. limit.Limit", "2. main.sign",
	"== 6 of 8", "(spec.Replace, Refuse, Wait, spec.FailClosed)", "$ go build ./mail", "mail/hooks_gen.go:",
	"$ hookgen mail", "wrote mail/hooks_gen.go: 3 points",
	"$ go build ./...", "not enough arguments in call to mail.MatchBeforeSend", "func(mail.Wait) R)",
	"+         func(w mail.Wait) error {", "+         return mail.Wait{Hours: 8}, nil",
	"$ go run .", "sent: Good morning -- Ada", "not sent: limit.Limit makes it wait for 8 hours",
	"== 7 of 8", "+ //hookgen:wire", "wrote mail/hooks_wire_gen.go", "+     hooks.ObserveAny(mail.Record(record))",
	"o  wire.Recorder  priority 0",
	"$ hooklog show run.jsonl", "BeforeSend", "replace", "sign", "OnSent", "Wait", "limit.Limit",
	"$ go test .", "ok", "+ limit.Limit{Max: 10}", "$ go test .", "FAIL", "replace", "Wait",
	"== 8 of 8",
}

// readModule reads the files that the tools of the tour will read, because the go command caches a test's result for as
// long as the files that the test itself has read stay the same.
func readModule(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"cmd/hookgen", "cmd/hooklog", "gen", "hookkit", "hooktest", "internal", "spec"} {
		err := filepath.WalkDir(filepath.Join("..", "..", dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				_, err = os.ReadFile(path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTourShowsItsHighlights(t *testing.T) {
	readModule(t)
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // for Windows
	var out strings.Builder
	if err := run(t.Context(), &narrator{out: &out}, false); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	rest := out.String()
	for _, want := range highlights {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("no %q after the previous highlight, in:\n%s", want, &out)
		}
		rest = after
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("the output has colours that nobody asked for")
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "hookgen-tour-*")); len(left) > 0 || err != nil {
		t.Error("not removed:", left, err)
	}
}

func TestTourFailsIfACommandDisagrees(t *testing.T) {
	var out strings.Builder
	s := &stage{narrator: &narrator{out: &out}, ctx: t.Context(), dir: t.TempDir()}
	if s.fails("go", "version") == nil {
		t.Error("fails accepted a command that succeeded")
	}
	if s.works("go", "nonsense") == nil {
		t.Error("works accepted a command that failed")
	}
	if err := s.fails("go", "nonsense"); err != nil {
		t.Error(err)
	}
	if err := s.write("a.txt", "one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	if s.edit("a.txt", "three\n", "four\n") == nil {
		t.Error("edit accepted a line that does not exist")
	}
	if s.works("hookgen") == nil {
		t.Error("works accepted a missing program")
	}
}

func TestColoursOnlyAddEscapes(t *testing.T) {
	show := func(colours bool) string {
		var out strings.Builder
		n := &narrator{out: &out, colours: colours}
		n.title("A title")
		n.say("A %s.", "paragraph")
		n.quote(red, "one\n\n\ttwo\n")
		n.change("file", "old\n", "new\n")
		return out.String()
	}
	without, with := show(false), show(true)
	stripped := regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(with, "")
	trimmed := regexp.MustCompile(`(?m) +$`).ReplaceAllString(stripped, "")
	if with == without || trimmed != without {
		t.Errorf("without: %q, with: %q", without, with)
	}
}

func TestFilesGetNoColours(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if coloured(f) {
		t.Error("a file is taken for a terminal")
	}
}
