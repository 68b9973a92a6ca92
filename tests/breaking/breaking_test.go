// Package breaking_test checks the verdicts of hookgen breaking against the compiler. Each file in testdata is a spec,
// with a hook and a program that use it, and changes of the spec. The old hook and the old program are compiled and run
// with the code that is generated from the changed spec. The verdict must be the worst effect that they have.
package breaking_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/breaking"
	"github.com/hookgen/hookgen/internal/usermodule"
	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write the findings of testdata and the tables of the page anew")

// A program is a spec, a hook, and a program that fires the points, by file name.
type program map[string]string

// A change is one change of a spec.
type change struct {
	base  string // the file in testdata, without its extension
	title string
	dir   string // in the module
	spec  string // the directory of the changed spec, if it is another
	diff  string // as in testdata; "" for a law
	want  string // the findings that testdata expects, one per line

	old, now program
	findings []breaking.Finding
	hook     string // what the compiler says about the old hook
	loop     string // what it says about the old program
	differs  bool   // the old program behaves differently
	remote   bool   // a program and hooks in another process disagree, if one of them has the new code
	runs     bool
}

// A base is one file in testdata.
type base struct {
	name    string
	archive *txtar.Archive
	files   program
	changes []*change
}

const caseMark = "change "

// readBase reads a file of testdata: the files of the old program, and then the changes.
func readBase(t *testing.T, file string) *base {
	t.Helper()
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b := &base{name: strings.TrimSuffix(filepath.Base(file), ".txtar"), archive: archive, files: program{}}
	for _, f := range archive.Files {
		title, isCase := strings.CutPrefix(f.Name, caseMark)
		if !isCase {
			b.files[f.Name] = string(f.Data)
			continue
		}
		diff, want, _ := strings.Cut(string(f.Data), "\n=>\n")
		now := maps.Clone(b.files)
		now.apply(t, title, diff)
		b.changes = append(b.changes, &change{base: b.name, title: title, diff: diff, want: want,
			dir: fmt.Sprintf("%s%d", b.name, len(b.changes)), old: b.files, now: now})
	}
	return b
}

// apply replaces lines of files. A line "--- NAME" selects a file, the first is that of the spec. Lines that begin with
// - are replaced by the lines after them that begin with +. A line that begins with = is context for the lines after
// it.
func (p program) apply(t *testing.T, title, diff string) {
	t.Helper()
	name := "mail/spec.go"
	var old, replacement string
	flush := func() {
		if old == "" && replacement == "" {
			return
		}
		if p[name] == "" {
			p[name] = replacement
		} else if strings.Count(p[name], old) != 1 {
			t.Fatalf("%s: %s does not have exactly one %q", title, name, old)
		} else {
			p[name] = strings.Replace(p[name], old, replacement, 1)
		}
		old, replacement = "", ""
	}
	for line := range strings.Lines(strings.TrimSuffix(diff, "\n") + "\n") {
		file, isFile := strings.CutPrefix(line, "--- ")
		switch {
		case isFile:
			flush()
			name = strings.TrimSpace(file)
		case line == "\n":
			flush()
		case line[0] == '-':
			old += line[1:]
		case line[0] == '+':
			replacement += line[1:]
		case line[0] == '=':
			old, replacement = old+line[1:], replacement+line[1:]
		default:
			t.Fatalf("%s: a line begins with none of - + =: %q", title, line)
		}
	}
	flush()
}

// laws are the bases whose spec is changed into that of each other one.
var laws = []string{"observe", "flow", "rewrite", "amend", "vote", "collect", "check", "check_all", "around"}

// pairs returns a change from each law to each other law.
func pairs(bases map[string]*base) []*change {
	var all []*change
	for _, from := range laws {
		for _, to := range laws {
			if from == to {
				continue
			}
			// The changed spec is that of the other base, which is in the module already.
			now := program{}
			for _, name := range []string{"use/hook.go", "use/loop.go"} {
				now[name] = strings.ReplaceAll(bases[from].files[name], "example.com/mail", "user/"+to+"/mail")
			}
			all = append(all, &change{base: from, title: to, dir: from + "_to_" + to, spec: to, old: bases[from].files,
				now: now})
		}
	}
	return all
}

// generate writes a program into a directory of the module, and generates the code of its specs.
func generate(t *testing.T, m *usermodule.Module, dir string, p program) {
	t.Helper()
	for name, text := range p {
		m.Write(dir+"/"+name, strings.ReplaceAll(text, "example.com/", "user/"+dir+"/"))
	}
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if path.Base(name) != "spec.go" {
			continue
		}
		spec, found := gen.Read(filepath.Join(m.Dir, dir, path.Dir(name)))
		if len(found) > 0 {
			t.Fatal(found)
		}
		// The name of the spec is the same in every directory, as for two versions of one package.
		to := gen.Output{Package: spec.Package, Source: "user/" + path.Dir(name)}
		text, err := gen.Emit(spec, to)
		if err != nil {
			t.Fatal(err)
		}
		m.Write(dir+"/"+path.Dir(name)+"/"+gen.FileName, string(text))
		if spec.Wire {
			if text, err = gen.EmitWire(spec, to); err != nil {
				t.Fatal(err)
			}
			m.Write(dir+"/"+path.Dir(name)+"/"+gen.WireFileName, string(text))
		}
	}
}

// read reads the version of a spec as hookgen breaking does.
func read(t *testing.T, m *usermodule.Module, dir string) breaking.Version {
	t.Helper()
	at := filepath.Join(m.Dir, dir, "mail")
	files, failures := gen.Files(at)
	spec, found := gen.Outline(at, files)
	if len(found)+len(failures) > 0 {
		t.Fatal(found, failures)
	}
	lookUp := func(importPath string) []gen.File {
		files, _ := gen.Files(filepath.Join(m.Dir, dir, strings.TrimPrefix(importPath, "user/"+dir)))
		return files
	}
	surface, found := spec.Surface("user/"+dir, lookUp)
	if len(found) > 0 {
		t.Fatal(found)
	}
	return breaking.Version{Surface: surface, Output: spec.Package}
}

// compilerLine matches one error of the compiler.
var compilerLine = regexp.MustCompile(`(?m)^(?:\./)?(\w+)/(\w+)/(\w+\.go):\d+:\d+: (.*)$`)

// TestVerdicts compiles and runs the old hooks and programs with the new generated code.
func TestVerdicts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no bases", err)
	}
	if testing.Short() {
		files = files[:1]
	}
	m := usermodule.New(t)
	m.Init("user")
	bases := map[string]*base{}
	var all []*change
	for _, file := range files {
		b := readBase(t, file)
		if testing.Short() {
			b.changes = b.changes[:5]
		}
		bases[b.name] = b
		all = append(all, b.changes...)
		generate(t, m, b.name, b.files)
	}
	var matrix []*change
	if !testing.Short() {
		matrix = pairs(bases)
	}
	all = append(all, matrix...)
	for _, c := range all {
		generate(t, m, c.dir, c.now)
		c.findings = breaking.Compare(read(t, m, c.base), read(t, m, cmp.Or(c.spec, c.dir)))
	}
	measure(t, m, all, bases)
	for _, c := range all {
		t.Run(c.base+"/"+strings.ReplaceAll(c.title, " ", "_"), func(t *testing.T) { c.check(t) })
	}
	if testing.Short() {
		return
	}
	everyRuleHasAChange(t, all)
	if *update {
		for _, file := range files {
			write(t, file, bases[strings.TrimSuffix(filepath.Base(file), ".txtar")])
		}
	}
	writePage(t, files, bases, matrix)
}

// measure compiles everything at once, and runs what compiles as one program.
func measure(t *testing.T, m *usermodule.Module, all []*change, bases map[string]*base) {
	t.Helper()
	out, _ := m.Try("go", "build", "-trimpath", "-gcflags=-e -N -l", "./...")
	said := map[string]map[string]string{} // by directory and file
	for _, line := range compilerLine.FindAllStringSubmatch(out, -1) {
		if said[line[1]] == nil {
			said[line[1]] = map[string]string{}
		}
		said[line[1]][line[2]+"/"+line[3]] += line[4] + "\n"
	}
	var run []string
	for _, name := range slices.Sorted(maps.Keys(bases)) {
		if len(said[name]) > 0 {
			t.Fatalf("the program %s does not compile before the change:\n%v", name, said[name])
		}
		run = append(run, name)
	}
	for _, c := range all {
		for file, text := range said[c.dir] {
			switch {
			case file == "use/hook.go":
				c.hook += text
			case file == "use/loop.go", file == "use/remote.go", strings.HasPrefix(file,
				"child/"): // a program that extends the points
				c.loop += text
			default:
				t.Fatalf("%s of %s, %s does not compile:\n%s", file, c.base, c.title, text)
			}
		}
		if c.runs = c.hook == "" && c.loop == ""; c.runs {
			run = append(run, c.dir)
		}
	}
	var imports, calls strings.Builder
	for _, dir := range run {
		fmt.Fprintf(&imports, "\t%s %q\n", dir, "user/"+dir+"/use")
		fmt.Fprintf(&calls, "\tall[%q] = %s.Run(%s.New)\n", dir, dir, dir)
	}
	for _, c := range all {
		if c.runs && c.now["use/remote.go"] != "" {
			for _, of := range []struct{ name, host, service string }{
				{c.base + " to itself", c.base, c.base},
				{c.dir + " new program", c.dir, c.base},
				{c.dir + " new service", c.base, c.dir},
			} {
				fmt.Fprintf(&calls, "\tall[%q] = %s.Host(%s.Service())\n", of.name, of.host, of.service)
			}
		}
	}
	m.Write("main.go", "package main\n\nimport (\n\t\"encoding/json\"\n\t\"os\"\n\n"+imports.String()+")\n\n"+
		"func main() {\n\tall := map[string]string{}\n"+calls.String()+"\tjson.NewEncoder(os.Stdout).Encode(all)\n}\n")
	var texts map[string]string
	if err := json.Unmarshal([]byte(m.Run("go", "run", "-trimpath", "-gcflags=-e -N -l", ".")), &texts); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		if c.runs {
			c.differs = withoutDirs(texts[c.dir]) != withoutDirs(texts[c.base])
			before := texts[c.base+" to itself"]
			c.remote = texts[c.dir+" new program"] != before || texts[c.dir+" new service"] != before
		}
	}
}

// registered matches the directory of the place where a hook was registered.
var registered = regexp.MustCompile(`\w+/use/`)

// withoutDirs removes the names of directories, which differ for every change, from the output of a program.
func withoutDirs(text string) string { return registered.ReplaceAllString(text, "use/") }

// measured returns the worst effect of the change on the old hook and the old program.
func (c *change) measured() breaking.Verdict {
	switch {
	case c.hook != "":
		return breaking.BreaksHooks
	case c.loop != "":
		return breaking.BreaksLoops
	case c.remote:
		return breaking.BreaksWire
	case c.differs:
		return breaking.ChangesBehaviour
	}
	return breaking.Safe
}

// verdict returns the worst verdict of the findings.
func (c *change) verdict() breaking.Verdict {
	worst := breaking.Safe
	for _, f := range c.findings {
		worst = breaking.Worse(worst, f.Verdict)
	}
	return worst
}

// kept reports whether the change only concerns fields on the wire. The end that does not know such a field keeps its
// value, so the programs of the test see no difference, unlike hooks that read or set the field.
func (c *change) kept() bool {
	return c.verdict() == breaking.BreaksWire && c.measured() == breaking.Safe &&
		!slices.ContainsFunc(c.findings, func(f breaking.Finding) bool {
			return f.Verdict == breaking.BreaksWire && !strings.HasPrefix(f.Rule, "field-")
		})
}

// check compares the verdict with the measured effect, and the findings with the expected ones.
func (c *change) check(t *testing.T) {
	if got, want := c.verdict(), c.measured(); got != want && !c.kept() {
		t.Errorf("the verdict is %s, and the effect %s\nfindings: %v\nhook: %s\nprogram: %s", got, want, c.findings, c.hook,
			c.loop)
	}
	if len(c.findings) == 0 && c.diff == "" { // another law
		t.Error("nothing was found")
	}
	if diff := gocmp.Diff(c.want, c.listed()); c.diff != "" && diff != "" && !*update {
		t.Errorf("other findings (-want +got):\n%s", diff)
	}
}

// listed returns the findings as testdata lists them.
func (c *change) listed() string {
	var b strings.Builder
	for _, f := range c.findings {
		fmt.Fprintf(&b, "%s %s [%s]: %s\n", f.Verdict, f.Rule, strings.Join(f.Points, " "), f.Message)
	}
	return b.String()
}

// write writes the findings into a file of testdata.
func write(t *testing.T, file string, b *base) {
	t.Helper()
	for _, c := range b.changes {
		for i := range b.archive.Files {
			if b.archive.Files[i].Name == caseMark+c.title {
				b.archive.Files[i].Data = []byte(strings.TrimSuffix(c.diff, "\n") + "\n=>\n" + c.listed())
			}
		}
	}
	if err := os.WriteFile(file, txtar.Format(b.archive), 0o644); err != nil {
		t.Fatal(err)
	}
}

// everyRuleHasAChange reports rules that no change of testdata breaks.
func everyRuleHasAChange(t *testing.T, all []*change) {
	t.Helper()
	broken := map[string]bool{}
	for _, c := range all {
		for _, f := range c.findings {
			broken[f.Rule] = true
		}
	}
	for _, r := range breaking.Rules {
		if !broken[r.ID] && !slices.Contains(elsewhere, r.ID) {
			t.Errorf("no change breaks the rule %s", r.ID)
		}
	}
}

// elsewhere are the rules that another test covers.
var elsewhere = []string{"package-moved"}

// writePage compares the tables of the page with those that the changes make.
func writePage(t *testing.T, files []string, bases map[string]*base, matrix []*change) {
	t.Helper()
	name := filepath.Join(usermodule.Root(t), "docs", "hooks", "breaking.md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := between(t, string(text), "changes", changesTable(files, bases))
	page = between(t, page, "laws", lawsTable(matrix))
	for _, r := range breaking.Rules {
		if !strings.Contains(page, "`"+r.ID+"`") {
			t.Errorf("the page does not have the rule %s", r.ID)
		}
	}
	if diff := gocmp.Diff(string(text), page); diff != "" {
		if *update {
			if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		t.Errorf("docs/hooks/breaking.md -, the changes + (go test ./tests/breaking -update):\n%s", diff)
	}
}

// between replaces the part of a page between two comments.
func between(t *testing.T, page, part, text string) string {
	t.Helper()
	begin, end := "<!-- begin "+part+" -->\n", "<!-- end "+part+" -->\n"
	head, rest, ok := strings.Cut(page, begin)
	_, tail, also := strings.Cut(rest, end)
	if !ok || !also {
		t.Fatalf("the page has no %q and %q", begin, end)
	}
	return head + begin + text + end + tail
}

// changesTable has one row for each change. The comment of each file of testdata names its part of the table, and the
// context of its changes.
func changesTable(files []string, bases map[string]*base) string {
	parts := map[string]*strings.Builder{}
	order := []string{"Points", "Laws", "Types", "The spec as a whole", "Other processes"}
	for _, file := range files {
		b := bases[strings.TrimSuffix(filepath.Base(file), ".txtar")]
		part, context, _ := strings.Cut(strings.TrimSpace(string(b.archive.Comment)), ":")
		if context = strings.TrimSpace(context); context != "" {
			context += " "
		}
		if parts[part] == nil {
			parts[part] = new(strings.Builder)
		}
		for _, c := range b.changes {
			fmt.Fprintf(parts[part], "| %s%s | %s | `%s` | %s | %s |\n", context, c.title, strings.Join(c.rules(), ", "),
				c.verdict(), c.hookDoes(), c.programDoes())
		}
	}
	var all strings.Builder
	for _, part := range order {
		fmt.Fprintf(&all, "### %s\n\n| change | rule | verdict | an old hook | an old program |\n|---|---|---|---|---|\n%s\n",
			part, parts[part])
	}
	return all.String()
}

// rules returns the rules of the findings as code.
func (c *change) rules() []string {
	var rules []string
	for _, f := range c.findings {
		if rule := "`" + f.Rule + "`"; !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return []string{"none"}
	}
	return rules
}

// hookDoes describes the effect of the change on the old hook.
func (c *change) hookDoes() string {
	if c.hook != "" {
		return "does not compile"
	}
	return "compiles"
}

// programDoes describes the effect of the change on the old program.
func (c *change) programDoes() string {
	switch {
	case c.loop != "":
		return "does not compile"
	case !c.runs:
		return "compiles"
	case c.remote:
		return "disagrees with the service"
	case c.differs:
		return "behaves differently"
	}
	return "behaves as before"
}

// lawsTable has the verdict for each pair of laws.
func lawsTable(matrix []*change) string {
	names := map[string]string{"observe": "observe", "flow": "exits", "rewrite": "Replace, exits",
		"amend": "Edit, exits", "vote": "Vote", "collect": "Collect", "check": "Check",
		"check_all": "CheckAll", "around": "Around"}
	verdicts := map[string]breaking.Verdict{}
	for _, c := range matrix {
		verdicts[c.base+" "+c.title] = c.verdict()
	}
	var b strings.Builder
	b.WriteString("| from, to |")
	for _, to := range laws {
		b.WriteString(" " + names[to] + " |")
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(laws)) + "\n")
	for _, from := range laws {
		b.WriteString("| " + names[from] + " |")
		for _, to := range laws {
			b.WriteString(" " + strings.TrimSpace(string(verdicts[from+" "+to])) + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}
