package playground_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// A wrongHook is a hook that the compiler refuses.
type wrongHook struct{ name, text string }

// wrongHooks returns hooks with one mistake each, for every law of mail.
func wrongHooks() (list []wrongHook) {
	signatures := map[string][3]string{ // parameters after the payload, results, and a correct return
		"OnReceive":  {"", "error", "nil"},
		"BeforeSend": {"", "(mail.BeforeSendOutcome, error)", "mail.Refuse{}, nil"},
		"BeforeShow": {"", "(mail.BeforeShowOutcome, error)", `mail.EditBeforeShow("x", "y"), nil`},
		"OnRights":   {"", "(mail.OnRightsOutcome, error)", "mail.Grant{}, nil"},
		"Labels":     {"", "([]string, error)", `[]string{"a"}, nil`},
		"BeforeSave": {"", "error", "nil"},
		"AroundSend": {", next mail.AroundSendNext", "(hookkit.Answer[mail.Receipt], error)", "next.Call(ctx, m)"},
	}
	points := []string{"OnReceive", "BeforeSend", "BeforeShow", "OnRights", "Labels", "BeforeSave", "AroundSend"}
	for _, point := range points {
		s := signatures[point]
		method := fmt.Sprintf("func (h Hook) %s(ctx context.Context, run *mail.Run, m mail.Message%s) %s {\n\treturn %s\n}\n",
			point, s[0], s[1], s[2])
		text := "package hook\n\nimport (\n\t\"context\"\n\n\t\"example.com/play/mail\"\n\t" +
			"\"github.com/hookgen/hookgen/hookkit\"\n)\n\nvar _ = hookkit.Named\n\ntype Hook struct{}\n\n" +
			"func (h Hook) Bind(hooks *mail.Hooks) {\n\thooks." + point + ".Add(h, hookkit.Named(\"x\"))\n}\n\n" + method
		for mistake, change := range map[string][2]string{
			"payload":      {"m mail.Message", "m string"},
			"pointer":      {"m mail.Message", "m *mail.Message"},
			"run":          {"run *mail.Run", "run *hookkit.Run[string]"},
			"context":      {"ctx context.Context, run", "run"},
			"misspelled":   {") " + point + "(", ") " + point + "s("},
			"lower":        {") " + point + "(", ") on" + point + "("},
			"results":      {s[1] + " {", "(string, error) {"},
			"no results":   {s[1] + " {\n\treturn " + s[2], " {\n\treturn"},
			"outcome":      {"return " + s[2], "return mail.Receipt{}, nil"},
			"too many":     {"return " + s[2], "return " + s[2] + ", 1"},
			"undefined":    {"return " + s[2], "return missing(" + s[2] + ")"},
			"no such name": {"hooks." + point, "hooks." + point + "ed"},
			"option":       {`hookkit.Named("x")`, "hookkit.Async(nil)"},
			"option type":  {`hookkit.Named("x")`, "hookkit.Named(7)"},
			"function":     {".Add(h", ".AddFunc(h"},
			"observer":     {".Add(h", ".Observe(h"},
			"unused":       {"\treturn " + s[2], "\tn := 1\n\treturn " + s[2]},
			"import":       {"\t\"context\"\n", "\t\"context\"\n\t\"strings\"\n"},
		} {
			if wrong := strings.Replace(text, change[0], change[1], 1); wrong != text {
				list = append(list, wrongHook{point + " " + mistake, wrong})
			}
		}
		list = append(list, wrongHook{point + " right", text})
	}
	slices.SortFunc(list, func(a, b wrongHook) int { return strings.Compare(a.name, b.name) })
	return list
}

// TestHooksAreCheckedAsTheCompilerDoes compares the notes about wrong hooks with the messages of go build.
func TestHooksAreCheckedAsTheCompilerDoes(t *testing.T) {
	hooks := wrongHooks()
	if len(hooks) < 100 {
		t.Fatalf("%d hooks, want at least 100", len(hooks))
	}
	if testing.Short() {
		hooks = slices.DeleteFunc(hooks, func(h wrongHook) bool { return !strings.HasPrefix(h.name, "BeforeSend") })
	}
	p := player(t)
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, dir, "go.mod", "module example.com/play\n\ngo 1.26.0\n\nrequire github.com/hookgen/hookgen v0.0.0\n\n"+
		"replace github.com/hookgen/hookgen => "+fmt.Sprintf("%q", root)+"\n")
	write(t, dir, "mail/spec.go", mail)
	answer := p.Answer(playground.Question{Spec: mail})
	if len(answer.Spec) > 0 {
		t.Fatal(answer.Spec)
	}
	write(t, dir, "mail/hooks_gen.go", answer.API)
	for i, h := range hooks {
		write(t, dir, fmt.Sprintf("h%03d/hook.go", i), h.text)
	}
	build := exec.Command("go", "build", "-gcflags=-e", "-mod=mod", "./...")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	out, err := build.CombinedOutput()
	if err == nil {
		t.Fatal("the wrong hooks compile")
	}
	compiled := byDirectory(string(out))
	for i, h := range hooks {
		t.Run(h.name, func(t *testing.T) {
			want := compiled[fmt.Sprintf("h%03d", i)]
			var got []string
			for _, n := range p.Answer(playground.Question{Spec: mail, Hook: h.text}).Hook {
				got = append(got, fmt.Sprintf("%d:%d: %s", n.Line, n.Column, n.Message))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("compiler -, playground +:\n%s\n%s", diff, h.text)
			}
			if right := strings.HasSuffix(h.name, " right"); right != (len(want) == 0) {
				t.Errorf("the compiler says %q", want)
			}
		})
	}
}

// place matches the begin of a message of the compiler.
var place = regexp.MustCompile(`^(h\d+)/hook\.go:(\d+:\d+: .*)$`)

// byDirectory splits the output of go build. Lines that begin with a tab belong to the message before.
func byDirectory(out string) map[string][]string {
	found := map[string][]string{}
	last := ""
	for line := range strings.Lines(out) {
		line = strings.TrimRight(line, "\n")
		if m := place.FindStringSubmatch(line); m != nil {
			last = m[1]
			found[last] = append(found[last], m[2])
		} else if strings.HasPrefix(line, "\t") && last != "" {
			found[last][len(found[last])-1] += "\n" + line
		}
	}
	return found
}

// TestSpecsAreRefusedAsTheCommandDoes compares the notes about wrong specs with the output of hookgen check.
func TestSpecsAreRefusedAsTheCommandDoes(t *testing.T) {
	specs := wrongSpecs(t)
	if len(specs) < 200 {
		t.Fatalf("%d specs, want at least 200", len(specs))
	}
	dir := t.TempDir()
	tool := filepath.Join(dir, "hookgen.exe")
	if out, err := exec.Command("go", "build", "-o", tool, "../../cmd/hookgen").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var p playground.Player
	refused := 0
	for i, name := range slices.Sorted(maps.Keys(specs)) {
		if testing.Short() && i%20 > 0 {
			continue
		}
		text := specs[name]
		t.Run(name, func(t *testing.T) {
			own := filepath.Join(t.TempDir(), "play")
			write(t, own, "spec.go", text)
			check := exec.Command(tool, "-json", ".")
			check.Dir = own
			out, _ := check.Output()
			var want []playground.Note
			var found []struct {
				File, Message, Rule string
				Line, Col           int
			}
			if json.Unmarshal(out, &found) == nil {
				for _, f := range found {
					want = append(want, playground.Note{File: filepath.ToSlash(f.File), Line: f.Line, Column: f.Col,
						Message: f.Message, Rule: f.Rule})
				}
			}
			got := p.Answer(playground.Question{Spec: text}).Spec
			if len(got) > 0 {
				refused++
			}
			if len(got) != len(want) || len(got) > 0 && !cmp.Equal(want, got) {
				t.Errorf("command -, playground +:\n%s\n%s", cmp.Diff(want, got), text)
			}
		})
	}
	if refused < 200 && !testing.Short() {
		t.Errorf("%d specs were refused, want at least 200", refused)
	}
}

// wrongSpecs returns the wrong specs of package gen that are one file, and mail with one piece removed.
func wrongSpecs(t *testing.T) map[string]string {
	specs := map[string]string{}
	archives, err := filepath.Glob("../../gen/testdata/wrong/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, name := range archives {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string]int{}
		for _, f := range archive.Files {
			files[filepath.Dir(f.Name)]++
		}
		for _, f := range archive.Files {
			dir := filepath.Dir(f.Name)
			if filepath.Base(f.Name) == "spec.go" && files[dir] == 2 { // with the file want
				specs[filepath.Base(name)+" "+dir] = string(f.Data)
			}
		}
	}
	tokens := regexp.MustCompile(`\w+|[^\s\w]`).FindAllStringIndex(mail, -1)
	for _, at := range tokens {
		for _, put := range []string{"", "Refuse"} {
			text := mail[:at[0]] + put + mail[at[1]:]
			if got, want := playgroundRefuses(text), true; got == want {
				specs[fmt.Sprintf("mail at %d %s", at[0], put)] = text
			}
		}
	}
	return specs
}

// playgroundRefuses reports whether the spec is wrong; the test compares how.
func playgroundRefuses(text string) bool {
	var p playground.Player
	return len(p.Answer(playground.Question{Spec: text}).Spec) > 0
}

func TestChangesAreThoseOfBreaking(t *testing.T) {
	var p playground.Player
	now := strings.Replace(mail, "spec.FailOpen)", "spec.FailClosed)", 1)
	a := p.Answer(playground.Question{Spec: now, Old: mail})
	if len(a.Changes) != 1 || a.Changes[0].Rule != "policy-tightened" || a.Changes[0].Line == 0 {
		t.Errorf("%+v, %q", a.Changes, a.Problem)
	}
	if a := p.Answer(playground.Question{Spec: mail, Old: "package"}); a.Problem == "" {
		t.Error("an old version that does not parse was compared")
	}
	if a := p.Answer(playground.Question{Spec: mail, Old: mail}); len(a.Changes) != 0 || a.Problem != "" || !a.Compared {
		t.Errorf("%+v", a)
	}
}

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
