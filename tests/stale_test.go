package tests

import (
	"fmt"
	"path"
	"strings"
	"testing"
)

// guard is what the compiler must print about stale code: it names the remedy.
const guard = "staleCode_runHookgen"

// mailSpec is what the cases below change.
const mailSpec = `package mailspec

import "github.com/hookgen/hookgen/spec"

//hookgen:points
type Points interface {
	spec.Env[*Env]

	// BeforeSend fires before a message is sent.
	BeforeSend(Message) (spec.Replace, Refuse, Later, spec.FailClosed)
	OnSent(Message)
	Folders([]Message) spec.Collect[Folder]
	AroundStore(*Message) spec.Around[Folder]
}

// Env is what all hooks see.
type Env struct{ User string }

// A Message is what most points are about.
type Message struct {
	Text string
	Size int
}

// A Folder is where a message belongs.
type Folder struct{ Name string }

// Refuse keeps it from happening.
type Refuse struct{ Reason string }

// Later makes it happen later.
type Later struct{ Hours int }
`

// staleChanges are the changes of mailSpec after which code from before must not build.
var staleChanges = []struct {
	name     string
	old, new string // everywhere in the spec
	says     string // what the compiler says beside the guard's name
}{
	{"addAPoint", "\tOnSent(Message)\n", "\tOnSent(Message)\n\tOnRead(Message)\n", "missing method OnRead"},
	{"removeAPoint", "\tOnSent(Message)\n", "", "missing method OnSent"},
	{"renameAPayload", "Message", "Letter", "undefined: "},
	{"changeAPayload", "OnSent(Message)", "OnSent(Folder)", "wrong type for method OnSent"},
	{"renameAnExit", "Refuse", "Reject", "undefined: "},
	{"dropAnExit", "Refuse, Later,", "Refuse,", "wrong type for method BeforeSend"},
	{"turnTheExits", "Refuse, Later,", "Later, Refuse,", "wrong type for method BeforeSend"},
	{"changeTheLaw", "(spec.Replace, Refuse, Later,", "(spec.Vote, Refuse, Later,", "wrong type for method BeforeSend"},
	{"letHooksDecide", "OnSent(Message)", "OnSent(Message) spec.Check", "wrong type for method OnSent"},
	{"changeThePolicy", "spec.FailClosed", "spec.FailOpen", "wrong type for method BeforeSend"},
	{"collectAnother", "Collect[Folder]", "Collect[string]", "wrong type for method Folders"},
	{"changeTheEnvironment", "spec.Env[*Env]", "spec.Env[Env]", "wrong type for method hookgenEnv"},
}

// outputModes are the places for generated code: where the spec goes, and the arguments of hookgen.
var outputModes = []struct {
	name string
	spec string
	args []string
}{
	{"beside", "spec.go", []string{"."}},
	{"apart", "mailspec/spec.go", []string{"-o", "mail", "mailspec"}},
}

// A staleCase is one change in one output mode.
type staleCase struct {
	dir     string // of the case
	args    []string
	spec    string // the file
	changed string // its text after the change
	says    string
}

func staleCases(t *testing.T) []staleCase {
	var all []staleCase
	for _, mode := range outputModes {
		for _, c := range staleChanges {
			changed := strings.ReplaceAll(mailSpec, c.old, c.new)
			if changed == mailSpec {
				t.Fatalf("%s changes nothing", c.name)
			}
			dir := path.Join(mode.name, c.name)
			all = append(all, staleCase{dir, mode.args, path.Join(dir, mode.spec), changed, c.says})
		}
	}
	return all
}

// TestStaleCodeDoesNotBuild changes the spec under generated code, in every way and in both output modes: the
// build names the guard, and running hookgen is all it takes to mend it.
func TestStaleCodeDoesNotBuild(t *testing.T) {
	t.Parallel()
	hookgen := buildHookgen(t)
	d := newDownstream(t)
	d.requireThisModule()
	build := []string{"go", "build", "-gcflags=-N -l", "./..."}
	all := staleCases(t)
	generate := func() {
		t.Helper()
		for _, c := range all {
			d.in(c.dir).run(append([]string{hookgen}, c.args...)...)
		}
	}

	for _, c := range all {
		d.write(c.spec, mailSpec)
	}
	generate()
	d.run("go", "build", "./beside/addAPoint", "./apart/addAPoint/...") // before the change, all cases are the same

	for _, c := range all {
		d.write(c.spec, c.changed)
	}
	out, err := d.try(build...)
	if err == nil {
		t.Fatal("everything builds")
	}
	for _, c := range all {
		t.Run(c.dir, func(t *testing.T) {
			said := sectionOf(out, "# example.com/downstream/"+c.dir)
			if !strings.Contains(said, guard) || !strings.Contains(said, c.says) {
				t.Errorf("want %q and %q:\n%s", guard, c.says, said)
			}
		})
	}

	generate()
	d.run(build...)
}

// TestTheGuardIsAmongTheFirstErrors renames types that stand at many points: the compiler gives up after ten errors, and
// "undefined" alone does not say what to do.
func TestTheGuardIsAmongTheFirstErrors(t *testing.T) {
	t.Parallel()
	hookgen := buildHookgen(t)
	d := newDownstream(t)
	d.requireThisModule()
	var points strings.Builder
	for n := range 15 {
		fmt.Fprintf(&points, "\tOnMoment%d(Message) (Refuse, spec.FailOpen)\n", n)
	}
	text := strings.Replace(mailSpec, "\tOnSent(Message)\n", points.String(), 1)
	names := []string{"Message", "Refuse"}
	for _, mode := range outputModes {
		for _, name := range names {
			dir := path.Join(mode.name, name)
			d.write(path.Join(dir, mode.spec), text)
			d.in(dir).run(append([]string{hookgen}, mode.args...)...)
			d.write(path.Join(dir, mode.spec), strings.ReplaceAll(text, name, "Renamed"))
		}
	}
	out, err := d.try("go", "build", "./...")
	for _, mode := range outputModes {
		for _, name := range names {
			dir := path.Join(mode.name, name)
			if said := sectionOf(out, "# example.com/downstream/"+dir); err == nil || !strings.Contains(said, guard) {
				t.Errorf("%s: go build: %v\n%s", dir, err, said)
			}
		}
	}
}

// TestAnExitsFieldsAreGuarded is about a package of its own, which writes the fields of exits out. Beside the spec
// there is nothing that could be stale.
func TestAnExitsFieldsAreGuarded(t *testing.T) {
	t.Parallel()
	hookgen := buildHookgen(t)
	d := newDownstream(t)
	d.requireThisModule()
	generate := func() { d.run(hookgen, "-o", "mail", "mailspec") }

	d.write("mailspec/spec.go", mailSpec)
	generate()
	d.run("go", "build", "./...")
	d.write("mailspec/spec.go", strings.Replace(mailSpec, "Reason string", "Why string", 1))
	if out, err := d.try("go", "build", "./..."); err == nil || !strings.Contains(out, guard) {
		t.Errorf("go build: %v\n%s", err, out)
	}
	generate()
	d.run("go", "build", "./...")
}

// TestAnOldRuntimeDoesNotBuild shows that generated code does not build with a runtime that is too old for it.
func TestAnOldRuntimeDoesNotBuild(t *testing.T) {
	t.Parallel()
	d := newDownstream(t)
	d.requireThisModule()
	d.write("spec.go", mailSpec)
	d.run(buildHookgen(t))
	text := d.read("hooks_gen.go")
	const asked = "hookkit.RuntimeIsAtLeast1"
	if strings.Count(text, asked) != 1 {
		t.Fatalf("the generated code asks %d times for %s", strings.Count(text, asked), asked)
	}
	d.write("hooks_gen.go", strings.Replace(text, asked, "hookkit.RuntimeIsAtLeast999", 1))
	if out, err := d.try("go", "build", "./..."); err == nil || !strings.Contains(out, "undefined: hookkit.RuntimeIsAtLeast999") {
		t.Errorf("go build: %v\n%s", err, out)
	}
}

// sectionOf returns what the go command says about the packages in a directory.
func sectionOf(out, header string) string {
	var said strings.Builder
	inside := false
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "# ") {
			name := strings.TrimSpace(line)
			inside = name == header || strings.HasPrefix(name, header+"/")
		}
		if inside {
			said.WriteString(line)
		}
	}
	return said.String()
}
