package playground_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/hookgen/hookgen/site/playground"
)

// exports returns the packages of the playground, as the site has them.
var exports = sync.OnceValues(func() (*playground.Exports, error) {
	dir, err := os.MkdirTemp("", "playground")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is temporary
	file := filepath.Join(dir, "exports.zip")
	if out, err := exec.Command("go", "run", "./pack", file).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("pack: %w\n%s", err, out)
	}
	archive, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return playground.ReadExports(archive)
})

func player(t testing.TB) *playground.Player {
	t.Helper()
	known, err := exports()
	if err != nil {
		t.Fatal(err)
	}
	return &playground.Player{Exports: known}
}

// mail is a spec with every law.
const mail = `// Package mail sends messages.
package mail

import "github.com/hookgen/hookgen/spec"

// Points are the fire points of a message.
//
//hookgen:points
type Points interface {
	// OnReceive fires when a message arrives.
	OnReceive(Message)
	// BeforeSend fires before a message is sent.
	BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)
	// BeforeShow lets hooks edit the text.
	BeforeShow(Message) (spec.Edit[Text], spec.FailOpen)
	// OnRights asks who may read.
	OnRights(Message) (spec.Vote, Refuse, Grant, spec.FailClosed)
	// Labels collects labels.
	Labels(Message) spec.Collect[string]
	// BeforeSave may refuse to save.
	BeforeSave(Message) spec.Check
	// AroundSend wraps the sending.
	AroundSend(Message) spec.Around[Receipt]
}

type Message struct {
	To   string
	Text Text
}

type Text string

type Receipt struct{ ID string }

// Refuse refuses.
type Refuse struct{ Reason string }

// Grant allows.
type Grant struct{}
`

func TestAnswerHasDocumentation(t *testing.T) {
	a := player(t).Answer(playground.Question{Spec: strings.Replace(mail, "//hookgen:points",
		"//hookgen:points\n//hookgen:wire", 1)})
	if a.Import != "example.com/play/mail" || !strings.Contains(a.API, "type Hooks struct") ||
		!strings.Contains(a.Wire, "func Remote(") || !strings.Contains(a.Page, "# Points of mail") || len(a.Spec) > 0 {
		t.Errorf("%+v", a)
	}
}

func TestLargeSpecIsRefusedWithItsSize(t *testing.T) {
	var p playground.Player
	large := mail + strings.Repeat("// x\n", 1<<20)
	if a := p.Answer(playground.Question{Spec: large}); len(a.Spec) != 1 || a.Spec[0].Rule != "size" {
		t.Errorf("%+v", a.Spec)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(mail, "package hook", mail)
	f.Add("package p", "", "")
	known, err := exports()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, spec, hook, old string) {
		p := playground.Player{Exports: known}
		q := playground.Question{Spec: spec, Hook: hook, Old: old}
		for _, n := range p.Answer(q).Spec {
			if strings.HasPrefix(n.Message, "the playground failed") {
				t.Error(n.Message)
			}
		}
	})
}

func TestArchiveIsReproducible(t *testing.T) {
	packages := map[string][]byte{"a": []byte("x"), "b": []byte("no export data")}
	var a, b bytes.Buffer
	if playground.WriteExports(&a, packages) != nil || playground.WriteExports(&b, packages) != nil {
		t.Fatal("not written")
	}
	again, err := playground.ReadExports(a.Bytes())
	if err != nil || !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Errorf("%d and %d bytes, %v", a.Len(), b.Len(), err)
	}
	for path, says := range map[string]string{"b": "unexpected export data", "c": "package c is not in the playground"} {
		if _, err := again.Import(path); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Import of %s: %v, want %s", path, err, says)
		}
	}
	if _, err := playground.ReadExports([]byte("nothing")); err == nil {
		t.Error("read an archive that is none")
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestGalleryCompiles checks the programs of the gallery: the spec, its hook, and that the hook is checked at all.
func TestGalleryCompiles(t *testing.T) {
	programs, err := filepath.Glob("../gallery/*.txtar")
	if err != nil || len(programs) != 5 {
		t.Fatal(programs, err)
	}
	for _, name := range programs {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil || len(archive.Files) != 2 {
				t.Fatalf("%d files, %v", len(archive.Files), err)
			}
			q := playground.Question{Spec: string(archive.Files[0].Data), Hook: string(archive.Files[1].Data)}
			if a := player(t).Answer(q); len(a.Spec)+len(a.Hook) > 0 || a.API == "" {
				t.Errorf("%v %v", a.Spec, a.Hook)
			}
			q.Hook = strings.Replace(q.Hook, "Bind(", "Binds(", 1) + "\nvar _ = missing\n"
			if a := player(t).Answer(q); len(a.Hook) != 1 {
				t.Errorf("the wrong hook: %v", a.Hook)
			}
		})
	}
}
