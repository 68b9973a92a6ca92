package remote_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/export"
	"github.com/hookgen/hookgen/internal/usermodule"
)

var (
	matrix   = flag.Bool("matrix", false, "try every change of the spec, instead of one")
	overNATS = flag.Bool("nats", false, "also send the messages over NATS, whose server takes a minute to compile")
)

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
	left    = "left"    // with an exit, of which no field is lost
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

// A peer is one version: a program and a service.
type peer struct {
	program  string
	version  string // the number in the program
	fields   []string
	replaces bool   // hooks may replace the payload
	guard    string // of the version in JavaScript, compiled from TypeScript; "" without the tools
}

// buildPeers builds one program of all versions of the spec.
func buildPeers(t *testing.T, specs []string) []peer {
	t.Helper()
	module := usermodule.New(t)
	module.Init("user")
	root := usermodule.Root(t)
	copied := func(from, to string) {
		text, err := os.ReadFile(filepath.Join("testdata/versions", from))
		if err != nil {
			t.Fatal(err)
		}
		module.Write(to, string(text))
	}
	copied("main.go.txt", "main.go")
	program := filepath.Join(module.Dir, "peer.exe") // a name that every system starts
	var imports, versions strings.Builder
	peers := make([]peer, len(specs))
	for i, spec := range specs {
		if strings.Contains(spec, "Hold") {
			spec += "\ntype Hold struct{ Reason string }\n"
		}
		at := fmt.Sprintf("v%d", i)
		module.Write(at+"/mail/spec.go", spec)
		dir := filepath.Join(module.Dir, at, "mail")
		generate(t, dir, gen.Output{Package: "mail", Source: "user/mail"}, dir) // as if it were at one path
		copied("peer.go.txt", at+"/mail/peer.go")
		fmt.Fprintf(&imports, "\t%s \"user/%[1]s/mail\"\n", at)
		fmt.Fprintf(&versions, "\t{%s.PeerService, %[1]s.PeerFire},\n", at)
		peers[i] = peer{program: program, version: fmt.Sprint(i), fields: fieldsIn(spec),
			replaces: strings.Contains(spec, "spec.Replace")}
	}
	module.Write("versions.go", fmt.Sprintf("package main\n\nimport (\n%s)\n\nvar versions = []version{\n%s}\n",
		&imports, &versions))
	if *overNATS {
		copied("nats.go.txt", "nats.go")
		contrib := filepath.Join(root, "contrib", "nats")
		sums, err := os.ReadFile(filepath.Join(contrib, "go.sum"))
		if err != nil {
			t.Fatal(err)
		}
		module.Write("go.sum", module.Read("go.sum")+string(sums))
		module.Run("go", "mod", "edit", "-require="+usermodule.Path+"/contrib/nats@v0.0.0",
			"-replace="+usermodule.Path+"/contrib/nats="+contrib)
	}
	module.Run("go", "build", "-o", program, ".")
	compileGuards(t, module.Dir, peers)
	return peers
}

// fieldsIn returns the names that the fields of a message have in JSON.
func fieldsIn(spec string) (names []string) {
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
		names = append(names, name)
	}
	return names
}

// compileGuards makes the types of each version in TypeScript, and compiles the guard with them. It needs the tools of
// examples/languages/package.json, which are installed in a directory that LANGUAGES_NPM names. If the variable is
// another text, they are installed in a temporary one, and without it no guard is compiled.
func compileGuards(t *testing.T, dir string, peers []peer) {
	t.Helper()
	tools := os.Getenv("LANGUAGES_NPM")
	switch {
	case tools == "":
		t.Log("LANGUAGES_NPM is not set, so no guard in TypeScript is tried")
		return
	case !filepath.IsAbs(tools):
		tools = t.TempDir()
	}
	run := func(in string, command ...string) {
		t.Helper()
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir = in
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	run(".", "cp", usermodule.Root(t)+"/examples/languages/package.json", tools)
	run(tools, "npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	err := os.Symlink(filepath.Join(tools, "node_modules"), filepath.Join(dir, "node_modules"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("testdata/versions/guard.ts")
	if err != nil {
		t.Fatal(err)
	}
	guards := []string{"node_modules/.bin/tsc", "--strict", "--module", "nodenext", "--target", "es2022",
		"--types", "node", "--rootDir", ".", "--outDir", "build"}
	for i := range peers {
		p := &peers[i]
		if !p.replaces {
			continue // the compiler would refuse it
		}
		at := filepath.Join(dir, "v"+p.version)
		spec, found := gen.Read(filepath.Join(at, "mail"))
		if len(found) > 0 {
			t.Fatal(found)
		}
		exported, err := export.Load(spec)
		if err != nil {
			t.Fatal(err)
		}
		schemas, err := export.JSON(exported.Model())
		if err != nil {
			t.Fatal(err)
		}
		guard := strings.Replace(string(source), "/* FIELDS */", `"`+strings.Join(p.fields, `", "`)+`"`, 1)
		for name, text := range map[string]string{"model.json": string(schemas), "guard.ts": guard} {
			if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		run(at, filepath.Join(dir, "node_modules/.bin/quicktype"), "-s", "schema", "model.json#/$defs/", "--lang", "ts",
			"-o", "hooks.ts", "--just-types")
		guards = append(guards, filepath.Join("v"+p.version, "guard.ts"))
		p.guard = filepath.Join(dir, "build", "v"+p.version, "guard.js")
	}
	run(dir, guards...)
}

// fire lets the program of one version ask a service about a payload for to, and returns its result and the whole text.
func (p peer) fire(t *testing.T, script bool, to string, service ...string) (result, text string) {
	t.Helper()
	cmd := exec.Command(p.program, append([]string{p.version, "host", to}, service...)...)
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
	leaves        string // the result if the service leaves with an exit, whose fields are all set
}

// fireServices tries services in Go.
func (d direction) fireServices(t *testing.T) {
	t.Helper()
	url := listen(t, d.service.program, d.service.version, "http")
	services := map[string][]string{
		"exec": {"exec", d.service.program, d.service.version, "lines"},
		"http": {"http", url},
		// Without asking first, the service is found out at the first reply.
		"http without asking": {"http", url},
	}
	if *overNATS {
		services["nats"] = []string{"nats", d.service.version}
	}
	for name, service := range services {
		t.Run(name, func(t *testing.T) {
			got, text := d.host.fire(t, strings.Contains(name, "without"), "me", service...)
			check(t, got, text, d.want)
			got, text = d.host.fire(t, strings.Contains(name, "without"), "leave", service...)
			check(t, got, text, d.leaves)
		})
	}
}

// fireScripts tries a script that was written for the version of the service.
func (d direction) fireScripts(t *testing.T, script []string) {
	t.Helper()
	fields, language := strings.Join(d.service.fields, ","), filepath.Ext(script[1])[1:]
	if script[1] == d.service.guard {
		language = "ts"
	}
	for style, want := range map[string][]string{"echo": {kept}, "build": {kept, refused}, "patch": {kept}} {
		if !d.host.replaces {
			want = []string{refused}
		}
		t.Run(language+" "+style, func(t *testing.T) {
			command := append(slices.Clone(script), style)
			got, text := d.host.fire(t, true, "me", append(append([]string{"exec"}, command...), "lines", fields)...)
			check(t, got, text, want...)
			if script[0] == "python3" {
				got, text = d.host.fire(t, true, "me", "http", listen(t, append(command, "http", fields)...))
				check(t, got, text, want...)
			}
		})
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
// remedy. All changes are tried, over NATS and with guards in TypeScript too, with:
//
//	LANGUAGES_NPM=install go test ./tests/remote -run TestVersions -matrix -nats
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
	specs := []string{versionSpec}
	for _, c := range changes {
		changed := strings.Replace(versionSpec, c.old, c.new, 1)
		if changed == versionSpec {
			t.Fatalf("%s: nothing was changed", c.name)
		}
		specs = append(specs, changed)
	}
	peers := buildPeers(t, specs)
	older := peers[0]
	for i, c := range changes {
		newer := peers[i+1]
		leaves := map[string]string{kept: left, refused: refused}
		directions := []direction{
			{"older service", newer, older, c.older, leaves[c.older]}, {"newer service", older, newer, c.newer, leaves[c.newer]},
		}
		if strings.Contains(c.new, "Code") {
			directions[1].leaves = refused // the program would lose a field of the decision
		}
		for _, d := range directions {
			t.Run(c.name+"/"+d.name, func(t *testing.T) {
				d.fireServices(t)
				for _, script := range scripts {
					d.fireScripts(t, script)
				}
				if d.service.guard != "" {
					d.fireScripts(t, []string{"node", d.service.guard})
				}
			})
		}
	}
}
