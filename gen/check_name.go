package gen

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/gen/internal/emit"
)

// generatedNames are the names that generated code may declare for any law, so that changing the law of a point never
// causes a new name clash. If the emitter needs another name, add it here.
var generatedNames = struct {
	types    []string // in every package
	methods  []string // of Hooks, whose fields are the points
	points   []string // for every point, with its name for the star
	private  []string // the same for names that are not exported, whose star begins with a lower-case letter
	prefixes []string // beginnings of further names that are not exported
	imports  []string // of packages that generated code needs
	params   []string // type parameters of generated types and functions
}{
	types: []string{"Run", "NewRun", "Hooks", "Hook", "AnyObserver"},
	methods: []string{"Use", "Layer", "Over", "Pinned", "Trace", "Points", "Explain", "ObserveAny", "HandleFailures",
		"Registered"},
	points: []string{"*", "*Func", "*Outcome", "*Exit", "*Observer", "*Fired", "*Point", "*Next", "Replace*",
		"Edit*", "Observe*", "Match*"},
	private:  []string{"*Point", "*Invocation", "*Replace", "*Edit"},
	prefixes: []string{"hookgen", "staleCode_", emit.StalePrefix},
	imports:  []string{"context", "io", "hookkit", "hookimpl", "spec"},
	params:   []string{"P", "R"},
}

// wireNames are the names that a spec with //hookgen:wire makes hookgen generate, too.
var wireNames = []string{"Remote", "Serve", "Record"}

// generatesAlways reports whether hookgen generates the name whatever the points are.
func (r *specInfo) generatesAlways(name string) bool {
	return slices.Contains(generatedNames.types, name) || r.Wire && slices.Contains(wireNames, name) ||
		strings.HasPrefix(name, "For") && slices.Contains(r.keyOptions(), name)
}

// bindMethod is the method with which a hook adds itself to its points. A point called Bind would need a second method
// of that name.
const bindMethod = "Bind"

// namesOf returns the names that hookgen generates for a point.
func namesOf(point string) []string {
	var names []string
	for _, pattern := range generatedNames.points {
		names = append(names, strings.Replace(pattern, "*", point, 1))
	}
	for _, pattern := range generatedNames.private {
		names = append(names, strings.Replace(pattern, "*", emit.LowerFirst(point), 1))
	}
	return names
}

// assignOwners maps each generated name to its point. If two points generate the same name, the first point owns it.
func (r *specInfo) assignOwners() {
	for _, m := range r.members {
		if m.first != nil || m.Name == "_" || r.reserved(m.Name) {
			continue
		}
		for _, name := range namesOf(m.Name) {
			if r.owners[name] == nil {
				r.owners[name] = m
			}
		}
	}
}

// vetSignatures are the methods whose signature go vet checks, because the standard library gives them a meaning. The
// value is the payload for which vet complains, or "" if vet complains for every payload.
var vetSignatures = map[string]string{
	"GobDecode": "", "GobEncode": "", "MarshalJSON": "", "MarshalXML": "", "ReadByte": "", "ReadRune": "",
	"UnmarshalJSON": "",
	"UnmarshalXML":  "", "UnreadByte": "", "UnreadRune": "", "WriteByte": "",
	"Format": "fmt.State", "ReadFrom": "io.Reader", "Scan": "fmt.ScanState", "Seek": "int64", "WriteTo": "io.Writer",
}

// reserved reports whether a point cannot have the name, because every generated package declares it.
func (r *specInfo) reserved(name string) bool {
	return name == bindMethod || slices.Contains(generatedNames.methods, name) || r.generatesAlways(name)
}

func checkReservedName(r *specInfo, report report) {
	for _, m := range r.members {
		switch {
		case slices.Contains(generatedNames.methods, m.Name):
			report(m.Pos, "%s is a method of the generated Hooks, so no point can have that name: "+
				"rename it, to On%s for instance", m.Name, m.Name)
		case m.Name == bindMethod:
			report(m.Pos, "Bind is the method by which a hook binds itself, so no point can have that name: "+
				"rename it, to OnBind for instance")
		case r.generatesAlways(m.Name):
			report(m.Pos, "%s is a name of every generated package, so no point can have it: rename it, to On%s for instance",
				m.Name, m.Name)
		case r.failsVet(m):
			report(m.Pos, "go vet expects another signature of a method called %s: rename the point, to On%s for instance",
				m.Name, m.Name)
		}
	}
}

// failsVet reports whether go vet would report the point as a wrong signature of a standard method.
func (r *specInfo) failsVet(m *member) bool {
	payload, known := vetSignatures[m.Name]
	if !known || payload == "" || m.Payload.IsZero() {
		return known && payload == ""
	}
	written, _ := r.canonical(m.Payload.Expr, nil)
	return written == payload
}

func checkNameClash(r *specInfo, report report) {
	for _, m := range r.members {
		if m.first != nil || m.Name == "_" || r.reserved(m.Name) {
			continue
		}
		for _, name := range namesOf(m.Name) {
			if r.generatesAlways(name) || slices.Contains(generatedNames.methods, name) {
				report(m.Pos, "point %s would make hookgen generate %s, which every generated package has already: rename it",
					m.Name, name)
				break
			}
			if other := r.owners[name]; other != m {
				report(m.Pos, "points %s and %s both make hookgen generate %s: rename one", other.Name, m.Name, name)
				break
			}
		}
	}
	for _, name := range r.Declared {
		d := r.scope[name]
		if !ast.IsExported(name) || d.kind != token.TYPE && d.kind != token.CONST {
			continue
		}
		if message := r.clash(d); message != "" {
			report(d.pos, "%s", message)
		}
	}
	r.checkParentNames(report)
}

// clash returns the message for a declaration whose name hookgen generates too, or "" if the names differ.
func (r *specInfo) clash(d *declaration) string {
	what := map[token.Token]string{token.TYPE: "type", token.CONST: "constant", token.VAR: "variable",
		token.FUNC: "function"}[d.kind]
	if r.generatesAlways(d.name) {
		return what + " " + d.name + " has a name that hookgen generates in every package: rename it"
	}
	owner := r.owners[d.name]
	switch {
	case owner == nil:
		return ""
	case owner.Name == d.name:
		return what + " " + d.name + " has the name of a point, for which hookgen generates an interface: " +
			"rename one of the two"
	}
	return what + " " + d.name + " has a name that hookgen generates for point " + owner.Name + ": rename it"
}

// generatedFor returns the origin of a name that hookgen generates into the spec's package, for example "for point
// OnStart". It returns "" if hookgen does not generate the name.
func (r *specInfo) generatedFor(name string) string {
	switch owner := r.owners[name]; {
	case r.generatesAlways(name):
		return "for every package"
	case owner != nil:
		return "for point " + owner.Name
	case hasPrivatePrefix(name):
		return "for itself"
	}
	return ""
}

// hasPrivatePrefix reports whether a name begins with a prefix that is reserved for generated code.
func hasPrivatePrefix(name string) bool {
	return slices.ContainsFunc(generatedNames.prefixes, func(prefix string) bool {
		return len(name) > len(prefix) && strings.HasPrefix(name, prefix)
	})
}

// unimportable explains why generated code cannot import a package under a name, or returns "" if it can.
func (r *specInfo) unimportable(name string) string {
	switch {
	case predeclared[name] || builtins[name]:
		return "Go declares itself, and generated code needs Go's"
	case slices.Contains(generatedNames.params, name):
		return "generated code gives to a type parameter"
	}
	if whom := r.generatedFor(name); whom != "" {
		return "hookgen generates " + whom
	}
	return ""
}

// checkImportName checks the names of the spec's imports, because generated code uses the same names.
func checkImportName(r *specInfo, report report) {
	for _, l := range r.imports {
		name := l.name
		if name == "" {
			for _, candidate := range l.names {
				if r.qualifiers[candidate] == l {
					name = candidate
				}
			}
		}
		if why := r.unimportable(name); why != "" {
			report(l.pos, "the import of %q has the name %s, which %s: import it under another name", l.path, name, why)
		}
	}
}

// checkParentNames checks the fields of Hooks that hold the points of extended packages. For example, package agent
// becomes the field Agent, which may clash with a point called Agent.
func (r *specInfo) checkParentNames(report report) {
	fields := map[string]string{}
	for _, e := range r.embeds {
		if e.kind != parentEmbed {
			continue
		}
		qualifier := e.sel.X.(*ast.Ident).Name
		field := emit.ParentField(qualifier)
		other := fields[field]
		switch m := r.byName[field]; {
		case slices.Contains(generatedNames.methods, field):
			report(e.expr.Pos(), "the generated Hooks would hold the points of %s as %s, which is one of its methods: "+
				"import the package under another name", qualifier, field)
		case m != nil:
			report(m.Pos, "point %s has the name under which the generated Hooks holds the points of %s: rename it",
				m.Name, qualifier)
		case other != "" && other != qualifier:
			report(e.expr.Pos(), "the generated Hooks would hold the points of %s and %s both as %s: "+
				"import one under another name", other, qualifier, field)
		}
		fields[field] = qualifier
	}
}
