package compile_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// guard is the text that the compiler must print for stale code. It names the remedy.
const guard = "staleCode_runHookgen"

// mailSpec is the spec that the cases below change.
const mailSpec = `package mailspec

import "github.com/hookgen/hookgen/spec"

//hookgen:points
type Points interface {
	spec.Env[*Sender]

	// BeforeSend fires before a message is sent.
	BeforeSend(Message) (spec.Replace, Refuse, Later, spec.FailClosed)
	OnSent(Message)
	Folders([]Message) spec.Collect[Folder]
	Address(Letter) (spec.Edit[Street], spec.FailOpen)
	AroundStore(*Message) spec.Around[Folder]
}

// Sender is the environment.
type Sender struct{ User string }

// A Message is the payload of most points.
type Message struct {
	Text string
	Size int
}

// A Letter has a field that hooks may edit.
type Letter struct{ To Street }

// A Street is part of an address.
type Street string

// A Folder is the folder of a message.
type Folder struct{ Name string }

// Refuse keeps it from happening.
type Refuse struct{ Reason string }

// Later makes it happen later.
type Later struct{ Hours int }
`

// staleChanges are the changes of mailSpec after which existing generated code must not build.
var staleChanges = []struct {
	name     string
	old, new string // replaced everywhere in the spec
	says     string // part of the first error
	gone     bool   // the change removes a type, so that its uses in generated code are errors too
}{
	{"addAPoint", "\tOnSent(Message)\n", "\tOnSent(Message)\n\tOnRead(Message)\n", "missing method OnRead", false},
	{"removeAPoint", "\tOnSent(Message)\n", "", "missing method OnSent", false},
	{"renameAPoint", "OnSent(", "OnDelivered(", "missing method OnSent", false},
	{"changeAPayload", "OnSent(Message)", "OnSent(Folder)", "wrong type for method OnSent", false},
	{"dropAnExit", "Refuse, Later,", "Refuse,", "wrong type for method BeforeSend", false},
	{"turnTheExits", "Refuse, Later,", "Later, Refuse,", "wrong type for method BeforeSend", false},
	{"changeTheLaw", "(spec.Replace, Refuse, Later,", "(spec.Vote, Refuse, Later,",
		"wrong type for method BeforeSend", false},
	{"letHooksDecide", "OnSent(Message)", "OnSent(Message) spec.Check", "wrong type for method OnSent", false},
	{"changeThePolicy", "spec.FailClosed", "spec.FailOpen", "wrong type for method BeforeSend", false},
	{"collectAnother", "Collect[Folder]", "Collect[string]", "wrong type for method Folders", false},
	{"changeTheEnvironment", "spec.Env[*Sender]", "spec.Env[Sender]", "wrong type for method hookgenEnv", false},
	{"renameAnEditedField", "To Street", "Where Street", "_editAddress{}.To undefined", true},
	{"renameAPayload", "Message", "Parcel", "wrong type for method ", true},
	{"renameAContribution", "Folder", "Binder", "wrong type for method ", true},
	{"renameAnExit", "Refuse", "Reject", "wrong type for method BeforeSend", true},
	{"renameTheEnvironment", "Sender", "World", "missing method hookgenEnv", true},
}

// outputModes are the places for generated code: the directory of the spec, and the arguments of hookgen.
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
	dir     string // the directory of the case
	args    []string
	spec    string // the file name
	changed string // its text after the change
	says    string
	only    bool // the first error is the only one
}

func staleCases(t *testing.T) []staleCase {
	var all []staleCase
	changes := staleChanges
	if testing.Short() {
		changes = changes[:3]
	}
	for _, mode := range outputModes {
		for _, c := range changes {
			changed := strings.ReplaceAll(mailSpec, c.old, c.new)
			if changed == mailSpec {
				t.Fatalf("%s changes nothing", c.name)
			}
			dir := path.Join(mode.name, c.name)
			all = append(all, staleCase{dir, mode.args, path.Join(dir, mode.spec), changed, c.says, !c.gone})
		}
	}
	return all
}

// TestStaleCodeDoesNotBuild changes the spec without running hookgen, in every way and in both output modes. The
// first error of the build must name the remedy, and running hookgen must fix the build.
func TestStaleCodeDoesNotBuild(t *testing.T) {
	t.Parallel()
	hookgen := usermodule.BuildHookgen(t)
	m := usermodule.New(t)
	m.Init("example.com/downstream")
	build := []string{"go", "build", "-gcflags=-N -l", "./..."}
	all := staleCases(t)
	generate := func() {
		t.Helper()
		for _, c := range all {
			m.In(c.dir).Run(append([]string{hookgen}, c.args...)...)
		}
	}

	for _, c := range all {
		m.Write(c.spec, mailSpec)
	}
	generate()
	m.Run("go", "build", "./beside/addAPoint", "./apart/addAPoint/...") // before the change, all cases are the same

	for _, c := range all {
		m.Write(c.spec, c.changed)
	}
	out, err := m.Try(build...)
	if err == nil {
		t.Fatal("everything builds")
	}
	for _, c := range all {
		t.Run(c.dir, func(t *testing.T) {
			said := sectionOf(out, "# example.com/downstream/"+c.dir)
			errors := errorsIn(said)
			if len(errors) == 0 || !strings.Contains(errors[0], guard) || !strings.Contains(errors[0], c.says) ||
				c.only && len(errors) > 1 {
				t.Errorf("the first error must say %q and %q, and be the only one: %v:\n%s", guard, c.says, c.only, said)
			}
		})
	}

	generate()
	m.Run(build...)
}

// A change may remove a type that many points use. The compiler stops after ten errors, and "undefined" alone does
// not name the remedy.
func TestTheGuardIsTheFirstError(t *testing.T) {
	t.Parallel()
	hookgen := usermodule.BuildHookgen(t)
	m := usermodule.New(t)
	m.Init("example.com/downstream")
	var points strings.Builder
	for n := range 15 {
		fmt.Fprintf(&points, "\tOnMoment%d(Message) (Refuse, spec.FailOpen)\n", n)
	}
	text := strings.Replace(mailSpec, "\tOnSent(Message)\n", points.String(), 1)
	var dirs []string
	for _, mode := range outputModes {
		for _, name := range []string{"Message", "Refuse", "Folder"} {
			dir := path.Join(mode.name, name)
			m.Write(path.Join(dir, mode.spec), text)
			m.In(dir).Run(append([]string{hookgen}, mode.args...)...)
			m.Write(path.Join(dir, mode.spec), strings.ReplaceAll(text, name, "Renamed"))
			dirs = append(dirs, dir)
		}
	}
	out, _ := m.Try("go", "build", "./...")
	for _, dir := range dirs {
		t.Run(dir, func(t *testing.T) {
			said := sectionOf(out, "# example.com/downstream/"+dir)
			if errors := errorsIn(said); len(errors) == 0 || !strings.Contains(errors[0], guard) {
				t.Errorf("the first error does not name the guard:\n%s", said)
			}
		})
	}
}

// TestAnExitsFieldsAreGuarded checks the output in a separate package, which repeats the fields of exits. In the
// spec's own package nothing can be stale.
func TestAnExitsFieldsAreGuarded(t *testing.T) {
	t.Parallel()
	hookgen := usermodule.BuildHookgen(t)
	m := usermodule.New(t)
	m.Init("example.com/downstream")
	generate := func() { m.Run(hookgen, "-o", "mail", "mailspec") }

	m.Write("mailspec/spec.go", mailSpec)
	generate()
	m.Run("go", "build", "./...")
	m.Write("mailspec/spec.go", strings.Replace(mailSpec, "Reason string", "Why string", 1))
	out, _ := m.Try("go", "build", "./...")
	if errors := errorsIn(out); len(errors) != 1 || !strings.Contains(errors[0], guard) {
		t.Errorf("go build:\n%s", out)
	}
	generate()
	m.Run("go", "build", "./...")
}

// TestAnOldRuntimeDoesNotBuild: generated code does not build with an older runtime than it needs.
func TestAnOldRuntimeDoesNotBuild(t *testing.T) {
	t.Parallel()
	m := usermodule.New(t)
	m.Init("example.com/downstream")
	m.Write("spec.go", mailSpec)
	m.Run(usermodule.BuildHookgen(t))
	text := m.Read("hooks_gen.go")
	const asked = "hookimpl.IsAtLeastVersion0_1_0"
	if strings.Count(text, asked) != 1 {
		t.Fatalf("the generated code asks %d times for %s", strings.Count(text, asked), asked)
	}
	const newer = "hookimpl.IsAtLeastVersion999_0_0"
	m.Write("hooks_gen.go", strings.Replace(text, asked, newer, 1))
	if out, err := m.Try("go", "build", "./..."); err == nil || !strings.Contains(out, "undefined: "+newer) {
		t.Errorf("go build: %v\n%s", err, out)
	}
}

// sectionOf returns the output of the go command about the packages in a directory.
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

// errorsIn returns the errors in the output of the go command: the lines that begin with a position.
func errorsIn(said string) []string {
	var errors []string
	for line := range strings.Lines(said) {
		switch {
		case strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "\t") && len(errors) > 0:
			errors[len(errors)-1] += line
		default:
			errors = append(errors, line)
		}
	}
	return errors
}
