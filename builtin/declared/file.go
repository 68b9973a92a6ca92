package declared

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/internal/spelling"
)

// A declaration is one hook of a file, decoded and not yet made.
type declaration struct {
	at       value
	name     string
	points   []hookkit.AnyPoint
	match    matcher
	timeout  time.Duration // 0: the default of the kind
	priority *int          // nil: the default of the kind
	refuse   bool          // on_failure is refuse
	proceed  bool          // on_failure is continue
	disabled bool
	given    map[string]value // all keys by name
	kind     string           // the key that says what the hook is
}

// kinds are the keys of which a declaration has exactly one, with the further keys of each.
var kinds = map[string][]string{
	"command": {"at", "tools", "when", "on_failure", "dir", "env"},
	"process": {"at", "tools", "when", "on_failure", "dir", "env"},
	"url":     {"at", "tools", "when", "on_failure", "headers"},
	"prompt":  {"at", "tools", "when", "on_failure", "model"},
	"use":     {"with"},
}

// common are the keys of every declaration.
var common = []string{"name", "priority", "timeout_seconds", "enabled"}

// tiers are the names that a priority can have.
var tiers = map[string]int{
	"safety": hookkit.Safety, "input_shape": hookkit.InputShape, "detection": hookkit.Detection,
	"mutation": hookkit.Mutation, "observability": hookkit.Observability,
}

const (
	maxFile  = 4 << 20 // bytes of a file
	maxHooks = 1000    // declarations of a file
	maxName  = 100     // bytes of a name
)

// decode returns the declarations of a file.
func decode(doc *document) ([]*declaration, error) {
	root, err := doc.parse()
	if err != nil {
		return nil, err
	}
	members, err := root.object()
	if err != nil {
		return nil, err
	}
	var all []*declaration
	for _, m := range members {
		if m.key != "hooks" {
			return nil, unknown(doc, m, []string{"hooks"})
		}
		if m.value.kind != '[' {
			return nil, m.value.errorf(`the hooks are a list: {"hooks": [...]}`)
		}
		if len(m.value.items) > maxHooks {
			return nil, m.value.errorf("the file has more than %d hooks; split it", maxHooks)
		}
		names := make(map[string]bool)
		for _, item := range m.value.items {
			d, err := decodeOne(item)
			if err != nil {
				return nil, err
			}
			if names[d.name] {
				name := d.given["name"]
				return nil, name.errorf("another hook of the file has the name %q", d.name)
			}
			names[d.name] = true
			all = append(all, d)
		}
	}
	return all, nil
}

func decodeOne(v value) (*declaration, error) {
	members, err := v.object()
	if err != nil {
		return nil, err
	}
	d := &declaration{at: v, given: make(map[string]value)}
	for _, m := range members {
		d.given[m.key] = m.value
		if _, ok := kinds[m.key]; ok {
			if d.kind != "" {
				return nil, v.doc.errorf(m.at, "the hook has both %s and %s; write a hook for each", d.kind, m.key)
			}
			d.kind = m.key
		}
	}
	legal := append(slices.Clone(common), "command", "process", "url", "prompt", "use")
	if d.kind != "" {
		legal = slices.Concat(common, []string{d.kind}, kinds[d.kind])
	}
	for _, m := range members {
		ofAKind := func(keys []string) bool { return slices.Contains(keys, m.key) }
		if !ofAKind(legal) && (d.kind != "" || !slices.ContainsFunc(slices.Collect(maps.Values(kinds)), ofAKind)) {
			return nil, unknown(v.doc, m, legal)
		}
	}
	if d.kind == "" {
		return nil, v.errorf("the hook has none of command, process, url, prompt and use; give one")
	}
	return d, d.decode()
}

func unknown(doc *document, m member, legal []string) error {
	if meant := spelling.Suggest(m.key, legal); meant != "" {
		return doc.errorf(m.at, "unknown key %q; did you mean %q?", m.key, meant)
	}
	return doc.errorf(m.at, "unknown key %q; use the keys %s", m.key, strings.Join(legal, ", "))
}

// decode decodes the keys that all kinds share. The makers of the kinds decode the others.
func (d *declaration) decode() (err error) {
	name, ok := d.given["name"]
	if !ok {
		return d.at.errorf("the hook has no name; give it one, for records")
	}
	if d.name, err = name.text(); err != nil {
		return err
	}
	if d.name == "" || len(d.name) > maxName || strings.ContainsFunc(d.name, unprintable) {
		return name.errorf("a name has 1 to %d bytes, without control characters", maxName)
	}
	for key, v := range d.given {
		switch key {
		case "timeout_seconds":
			err = d.decodeTimeout(v)
		case "priority":
			err = d.decodePriority(v)
		case "enabled":
			var enabled bool
			enabled, err = v.boolean()
			d.disabled = !enabled
		case "on_failure":
			err = d.decodePolicy(v)
		}
		if err != nil {
			return err
		}
	}
	if d.kind == "use" {
		return nil
	}
	if d.points, err = d.decodePoints(); err != nil {
		return err
	}
	if d.refuse {
		policy := d.given["on_failure"]
		for _, p := range d.points {
			if len(p.Outcomes) == 0 {
				return policy.errorf("hooks at %s only observe, so that a failure cannot refuse anything", p.Name)
			}
		}
	}
	d.match, err = d.decodeMatch()
	return err
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }

func (d *declaration) decodeTimeout(v value) error {
	n, err := v.number()
	if err != nil {
		return err
	}
	if n < 0.001 || n > 600 {
		return v.errorf("the time limit is 0.001 to 600 seconds")
	}
	d.timeout = time.Duration(n * float64(time.Second))
	return nil
}

func (d *declaration) decodePriority(v value) error {
	if v.kind == '"' {
		name, err := v.text()
		if n, ok := tiers[name]; ok && err == nil {
			d.priority = &n
			return nil
		}
	}
	n, err := v.number()
	if err != nil || n != float64(int(n)) || n < -1000 || n > 1000 {
		return v.errorf("the priority is a whole number from -1000 to 1000 (higher runs earlier), or safety, " +
			"input_shape, detection, mutation or observability")
	}
	whole := int(n)
	d.priority = &whole
	return nil
}

func (d *declaration) decodePolicy(v value) error {
	policy, err := v.text()
	if err != nil {
		return err
	}
	switch policy {
	case "refuse":
		d.refuse = true
	case "continue":
		d.proceed = true
	default:
		return v.errorf(`on_failure is "refuse" or "continue"; without it the policy of the point decides`)
	}
	return nil
}

var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// variables decodes an object of texts, in which ${NAME} is a variable of the program's environment. Secrets therefore
// need not be in the file.
func variables(v value) (map[string]string, error) {
	members, err := v.object()
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string)
	for _, m := range members {
		text, err := m.value.text()
		if err != nil {
			return nil, err
		}
		missing := ""
		text = variable.ReplaceAllStringFunc(text, func(use string) string {
			name := use[2 : len(use)-1]
			v, ok := os.LookupEnv(name)
			if !ok {
				missing = name
			}
			return v
		})
		if missing != "" {
			return nil, m.value.errorf("the environment variable %s is not set", missing)
		}
		texts[m.key] = text
	}
	return texts, nil
}

// String names the hook in errors.
func (d *declaration) String() string { return fmt.Sprintf("the hook %q", d.name) }
