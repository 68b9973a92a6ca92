package remote_test

import (
	"bufio"
	"flag"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/usermodule"
)

var matrix = flag.Bool("matrix", false, "try every change of the spec, instead of one")

// versionSpec is the older version of the spec.
const versionSpec = `// Package mail sends messages.
package mail

import "github.com/hookgen/hookgen/spec"

//hookgen:points
//hookgen:wire
type Points interface {
	BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)
}

type Message struct {
	To       string
	Text     string
	Priority int
	Parts    []Part
	Meta     map[string]Part
	Opt      *Part
}

type Part struct {
	Name string
	Size int
}

type Refuse struct{ Reason string }
`

// A result of a fire whose hook runs in a process of another version.
const (
	kept    = "kept"    // no field is lost
	refused = "refused" // with a remedy
)

// versionChanges are changes of the spec, with the results of an older and of a newer service.
var versionChanges = []struct {
	name, old, new string
	older, newer   string
}{
	{"a field is added", "\tOpt ", "\tAdded string\n\tOpt ", kept, kept},
	{"a nested field is added", "\tSize int", "\tSize int\n\tAdded string", kept, kept},
	{"a struct is embedded", "type Message struct {",
		"type Base struct{ Tenant string }\n\ntype Message struct {\n\tBase", kept, kept},
	{"a field is removed", "\tPriority int\n", "", kept, kept},
	{"a field is renamed", "\tText ", "\tBody ", kept, kept},
	{"a field may be omitted", "Text     string", "Text string `json:\",omitempty\"`", kept, kept},
	{"a field has another spelling", "Text     string", "Text string `json:\"text\"`", refused, refused},
	{"a field has another type", "Priority int", "Priority string", refused, refused},
	{"a number is wider", "Priority int", "Priority int64", refused, refused},
	{"a field may be null", "Text     string", "Text *string", refused, refused},
	{"an element has another type", "[]Part", "[]string", refused, refused},
	{"an exit has a field more", "Reason string", "Reason string; Code int", kept, kept},
	{"an exit is added", "Refuse, spec", "Refuse, Hold, spec", kept, refused},
	{"hooks cannot replace any more", "spec.Replace, ", "", refused, refused},
	{"the policy is another one", "FailClosed", "FailOpen", refused, refused},
}

// A peer is the program of one version, and the fields that it knows.
type peer struct {
	program  string
	fields   string // with commas
	replaces bool   // hooks may replace the payload
}

// buildPeer builds the program of a version of the spec.
func buildPeer(t *testing.T, spec string) peer {
	t.Helper()
	module := usermodule.New(t)
	module.Init("user")
	if strings.Contains(spec, "Hold") {
		spec += "\ntype Hold struct{ Reason string }\n"
	}
	module.Write("mail/spec.go", spec)
	dir := filepath.Join(module.Dir, "mail")
	generate(t, dir, gen.Output{Package: "mail", Source: "user/mail"}, dir)
	data := usermodule.Root(t) + "/tests/remote/testdata/versions/main.go.txt"
	module.Run("cp", data, "main.go")
	module.Run("go", "build", "-o", "peer", ".")
	p := peer{program: filepath.Join(module.Dir, "peer"), replaces: strings.Contains(spec, "spec.Replace")}
	_, body, _ := strings.Cut(spec, "type Message struct {\n")
	body, _, _ = strings.Cut(body, "\n}")
	for line := range strings.Lines(body) {
		name := strings.Fields(line)[0]
		switch {
		case name == "Base":
			name = "Tenant"
		case strings.Contains(line, `"text"`):
			name = "text"
		}
		p.fields += "," + name
	}
	return p
}

// fire lets the program of one version ask a service, and returns its result and the whole text.
func (p peer) fire(t *testing.T, script bool, args ...string) (result, text string) {
	t.Helper()
	cmd := exec.Command(p.program, append([]string{"host"}, args...)...)
	if script {
		cmd.Env = append(cmd.Environ(), "SCRIPT=yes")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	result, _, _ = strings.Cut(strings.TrimSpace(string(out)), " ")
	return strings.TrimSuffix(result, ":"), string(out)
}

// listen starts a service that prints its port, and returns the URL.
func listen(t *testing.T, command ...string) string {
	t.Helper()
	cmd := exec.Command(command[0], command[1:]...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	port, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://localhost:" + strings.TrimSpace(port)
}

// A direction is a program that asks a service of another version.
type direction struct {
	name          string
	host, service peer
	want          string
}

// fireScripts tries a script that was written for the version of the service.
func (d direction) fireScripts(t *testing.T, script []string) {
	t.Helper()
	for style, want := range map[string][]string{"echo": {kept}, "build": {kept, refused}, "patch": {kept}} {
		if !d.host.replaces {
			want = []string{refused}
		}
		command := append(slices.Clone(script), style)
		got, text := d.host.fire(t, true, append(append([]string{"exec"}, command...), "lines", d.service.fields)...)
		check(t, got, text, want...)
		if script[0] == "python3" {
			got, text = d.host.fire(t, true, "http", listen(t, append(command, "http", d.service.fields)...))
			check(t, got, text, want...)
		}
	}
}

// check compares a result. A refusal says what to do.
func check(t *testing.T, got, text string, want ...string) {
	t.Helper()
	if !slices.Contains(want, got) {
		t.Errorf("got %q, want %s", text, strings.Join(want, " or "))
	}
	remedies := []string{"build both from one version", "wire.Accept", `{"decision":"patch"}`, "; use ", "unknown field; "}
	if got == refused && !slices.ContainsFunc(remedies, func(r string) bool { return strings.Contains(text, r) }) {
		t.Errorf("the refusal names no remedy: %s", text)
	}
}

// A program and a service, or a script, were built with different versions of the spec. No field is lost and no
// decision is misread: the payload that the hook changed has each other field as it was, or the fire is refused with a
// remedy. All changes are tried with:
//
//	go test ./tests/remote -run TestVersions -matrix
func TestVersions(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	scripts := [][]string{{"python3", "testdata/versions/guard.py"}, {"node", "testdata/versions/guard.mjs"}}
	scripts = slices.DeleteFunc(scripts, func(s []string) bool { _, err := exec.LookPath(s[0]); return err != nil })
	changes := versionChanges
	if !*matrix {
		changes = changes[:1]
	}
	older := buildPeer(t, versionSpec)
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(versionSpec, c.old, c.new, 1)
			if changed == versionSpec {
				t.Fatal("nothing was changed")
			}
			newer := buildPeer(t, changed)
			for _, d := range []direction{{"older service", newer, older, c.older}, {"newer service", older, newer, c.newer}} {
				t.Run(d.name, func(t *testing.T) {
					got, text := d.host.fire(t, false, "exec", d.service.program, "lines")
					check(t, got, text, d.want)
					url := listen(t, d.service.program, "http")
					got, text = d.host.fire(t, false, "http", url)
					check(t, got, text, d.want)
					// Without asking first, the service is found out at the first reply.
					got, text = d.host.fire(t, true, "http", url)
					check(t, got, text, d.want)
					for _, script := range scripts {
						d.fireScripts(t, script)
					}
				})
			}
		})
	}
}
