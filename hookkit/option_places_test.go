package hookkit_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/hookkit"
)

// A knownOption says what each place that must know an option shows of it. The option is given to a hook or an observer
// that is registered after another one with the name "anchor".
type knownOption struct {
	option  func(anchor *hookkit.Registration) any
	targets string              // the names of the interfaces that the option implements
	info    func(*hookkit.Info) // sets the fields of Info that the option sets; nil for none
	why     string              // its words in Explain; "" for none
	order   string              // the listing; "" for "anchor hook"
}

// knownOptions has a row for each option of the package.
var knownOptions = map[string]knownOption{
	"Priority": {
		option:  func(*hookkit.Registration) any { return hookkit.Priority(7) },
		targets: "GateOption HookOption ObserverOption UseOption",
		info:    func(i *hookkit.Info) { i.Priority = 7 },
		why:     "priority 7,",
		order:   "hook anchor",
	},
	"Named": {
		option:  func(*hookkit.Registration) any { return hookkit.Named("x") },
		targets: "GateOption HookOption ObserverOption UseOption",
		info:    func(i *hookkit.Info) { i.Name = "x" },
	},
	"Site": {
		option:  func(*hookkit.Registration) any { return hookkit.Site("hooks.json:3:2") },
		targets: "GateOption HookOption ObserverOption UseOption",
		info:    func(i *hookkit.Info) { i.Site = "hooks.json:3:2" },
		why:     "from hooks.json:3:2",
	},
	"Before": {
		option:  func(anchor *hookkit.Registration) any { return hookkit.Before(anchor) },
		targets: "GateOption HookOption ObserverOption UseOption",
		why:     "before anchor",
		order:   "hook anchor",
	},
	"After": {
		option:  func(anchor *hookkit.Registration) any { return hookkit.After(anchor) },
		targets: "GateOption HookOption ObserverOption UseOption",
		why:     "after anchor",
	},
	"Timeout": {
		option:  func(*hookkit.Registration) any { return hookkit.Timeout(time.Second) },
		targets: "GateOption HookOption UseOption",
		info:    func(i *hookkit.Info) { i.Timeout = time.Second },
		why:     "timeout 1s",
	},
	"FailClosed": {
		option:  func(*hookkit.Registration) any { return hookkit.FailClosed() },
		targets: "GateOption UseOption",
		info:    func(i *hookkit.Info) { i.FailClosed = true },
		why:     "fail closed",
	},
	"Async": {
		option:  func(*hookkit.Registration) any { return hookkit.Async(8) },
		targets: "ObserverOption",
		info:    func(i *hookkit.Info) { i.Async = 8 },
		why:     "async, queue 8",
	},
	"Replacing": {
		option:  func(anchor *hookkit.Registration) any { return hookkit.Replacing(anchor) },
		targets: "UseOption",
		order:   "hook",
	},
}

// A new option fails this test until its row, the comments of the option interfaces and the table of the docs have it.
// The row then fails until a listing and Explain show the option wherever it is legal.
func TestEveryOptionIsKnownEverywhere(t *testing.T) {
	options, comments := declaredOptions(t)
	table := optionTable(t)
	for _, name := range slices.Sorted(maps.Keys(knownOptions)) {
		if options[name] == nil {
			t.Errorf("knownOptions has %s, which is no option of the package: remove the row", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		t.Run(name, func(t *testing.T) {
			known, ok := knownOptions[name]
			if !ok {
				t.Errorf("knownOptions has no row for hookkit.%s: add one", name)
			}
			targets := options[name]
			if got := strings.Join(targets, " "); ok && got != known.targets {
				t.Errorf("it is legal as %s, want %s", got, known.targets)
			}
			for target, comment := range comments {
				if mentioned := strings.Contains(comment, "["+name+"]"); mentioned != slices.Contains(targets, target) {
					t.Errorf("the comment of %s in option.go mentions it: %v", target, mentioned)
				}
			}
			if got, want := table[name], legalIn(targets); got != want {
				t.Errorf("docs/hooks/hook-authors.md has it as legal in %q, want %q", got, want)
			}
			for _, target := range targets {
				if ok {
					t.Run(target, func(t *testing.T) { checkListed(t, known, target) })
				}
			}
		})
	}
}

// declaredOptions returns the option interfaces that the result of each exported function implements, and the comment
// of each of these interfaces.
func declaredOptions(t *testing.T) (options map[string][]string, comments map[string]string) {
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	comments = map[string]string{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Name.IsExported() && strings.HasSuffix(s.Name.Name, "Option") {
				comments[s.Name.Name] = s.Doc.Text()
			}
			return true
		})
	}
	conf := types.Config{Error: func(error) {}, IgnoreFuncBodies: true} // the imports are unknown and not needed
	pkg, _ := conf.Check("hookkit", fset, files, nil)
	options = map[string][]string{}
	for _, name := range pkg.Scope().Names() {
		f, ok := pkg.Scope().Lookup(name).(*types.Func)
		if !ok || !f.Exported() || f.Signature().Results().Len() != 1 {
			continue
		}
		for _, target := range slices.Sorted(maps.Keys(comments)) {
			i, ok := pkg.Scope().Lookup(target).Type().Underlying().(*types.Interface)
			if ok && types.Implements(f.Signature().Results().At(0).Type(), i) {
				options[name] = append(options[name], target)
			}
		}
	}
	return options, comments
}

// legalIn returns the words of the docs for targets.
func legalIn(targets []string) string {
	var words []string
	switch {
	case slices.Contains(targets, "HookOption"):
		words = append(words, "Add")
	case slices.Contains(targets, "GateOption"):
		words = append(words, "Add with a policy")
	}
	if slices.Contains(targets, "ObserverOption") {
		words = append(words, "Observe")
	}
	if slices.Contains(targets, "UseOption") {
		words = append(words, "Use")
	}
	return strings.Join(words, ", ")
}

// optionTable returns the second column of the table of options in the docs, by option.
func optionTable(t *testing.T) map[string]string {
	text, err := os.ReadFile("../docs/hooks/hook-authors.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Options\n")
	table := map[string]string{}
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "## ") {
			break
		}
		columns := strings.Split(line, "|")
		for _, m := range regexp.MustCompile("`hookkit\\.(\\w+)\\(").FindAllStringSubmatch(line, -1) {
			if len(columns) > 2 {
				table[m[1]] = strings.TrimSpace(columns[2])
			}
		}
	}
	return table
}

// checkListed registers hooks with the option where it is legal, and compares the listing and Explain with the same
// registration without the option.
func checkListed(t *testing.T, known knownOption, target string) {
	with, explained := listedWith(t, target, known.option)
	without, _ := listedWith(t, target, nil)
	for kind, infos := range with {
		if kind == "observers" && !strings.Contains(known.targets, "ObserverOption") {
			continue // in Use the option applies to the hooks of the Bind
		}
		var order []string
		for i, info := range infos {
			if !strings.Contains(explained, info.Name+"  "+withoutSites(info.Why)+"\n") {
				t.Errorf("Explain does not show %+v", info)
			}
			if info.Name == "anchor" {
				order = append(order, "anchor")
				continue
			}
			order = append(order, "hook")
			if !strings.Contains(info.Why, known.why) {
				t.Errorf("%s: the reason %q does not contain %q", kind, info.Why, known.why)
			}
			want := without[kind][len(without[kind])-1]
			if known.info != nil {
				known.info(&want)
			}
			infos[i].Why, want.Why = "", ""
			if got, want := withoutSites(fmt.Sprintf("%+v", infos[i])), withoutSites(fmt.Sprintf("%+v", want)); got != want {
				t.Errorf("%s: listed as\n%s\nwant\n%s", kind, got, want)
			}
		}
		want := known.order
		if want == "" {
			want = "anchor hook"
		}
		if got := strings.Join(order, " "); got != want {
			t.Errorf("%s: listed in the order %q, want %q", kind, got, want)
		}
	}
}

// listedWith registers an anchor at two points and then a hook or an observer with the option, which may be nil. It
// returns the hooks or the observers of the point of the latter, or both after Use, and the text of Explain.
func listedWith(
	t *testing.T, target string, option func(*hookkit.Registration) any,
) (listed map[string][]hookkit.Info, text string) {
	var h hooks
	watches := func(ctx, *run, int) error { return nil }
	anchor := h.Use(bind(func(h *hooks) {
		h.First.Add(continues)
		h.First.ObserveFunc(ignore)
		h.Watch.AddFunc(watches)
	}), hookkit.Named("anchor"))
	listed = map[string][]hookkit.Info{}
	switch target {
	case "HookOption":
		h.Watch.AddFunc(watches, given[hookkit.HookOption](option, anchor)...)
		listed["hooks"] = h.Watch.List()
	case "GateOption":
		h.First.Add(continues, given[hookkit.GateOption](option, anchor)...)
		listed["hooks"] = h.First.List()
	case "ObserverOption":
		h.First.ObserveFunc(ignore, given[hookkit.ObserverOption](option, anchor)...)
		listed["observers"] = at(0)(&h).Observers()
	case "UseOption":
		h.Use(bind(func(h *hooks) {
			h.First.Add(continues)
			h.First.ObserveFunc(ignore)
		}), given[hookkit.UseOption](option, anchor)...)
		listed["hooks"], listed["observers"] = h.First.List(), at(0)(&h).Observers()
	default:
		t.Fatalf("nothing registers with a %s: add a case", target)
	}
	return listed, explained(t, &h)
}

// given returns the option as one of the target, or nothing without an option.
func given[O any](option func(*hookkit.Registration) any, anchor *hookkit.Registration) []O {
	if option == nil {
		return nil
	}
	return []O{option(anchor).(O)}
}
