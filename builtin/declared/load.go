package declared

import (
	"errors"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/textfile"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// A File is a file of declared hooks. For example, the security team of a company maintains hooks.json, and all agents
// read it:
//
//	{"hooks": [
//	  {"name": "guard", "at": ["OnPermission"], "tools": ["shell"], "command": ["python3", "guard.py"]},
//	  {"name": "short runs", "use": "limit.Steps", "with": {"Max": 20}}
//	]}
//
// Load adds the hooks. To change them while runs are under way, change the file and call Load again. Each fire calls
// either the old hooks or the new ones. A hook whose declaration has not changed is kept, with its state and its
// process.
//
// Commands, processes, endpoints and prompts run in the tier Safety unless the file has a priority. If one fails, the
// policy of the point decides: at a FailClosed point the act is refused. The error names the hook, the program or URL,
// the time and the cause.
//
// A File is safe for concurrent use and must not be copied.
type File struct {
	Path  string  // required; relative directories in the file are relative to the directory of the file
	Ready []Ready // the hooks that the file can use by name
	// Models are the models for prompts, by the name in the file. A prompt without a name uses the model "", or without
	// one the model of the run. Only the calls of that model count towards the run.
	Models map[string]agent.Model
	// OnError receives failures of hooks with "on_failure": "continue". nil: they are logged.
	OnError func(error)

	mu     sync.Mutex
	hooks  *agent.Hooks // that has the registration; nil before the first Load
	text   string
	reg    *hookkit.Registration // nil if nothing is loaded, or the file has no enabled hook
	kept   map[string]declared   // by the text of the declaration
	failed kit.Reporter
}

// Load reads the file and adds its hooks. If they were loaded before, they are replaced; if the file has not changed,
// nothing happens. An error begins with the path, the line and the column. Load then changes nothing: a program should
// not start an agent after an error of the first Load, because its guards are missing.
//
// A File belongs to the Hooks of its first Load. After Unload it can be loaded into others.
func (f *File) Load(hooks *agent.Hooks) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hooks != nil && f.hooks != hooks {
		return errors.New("external: the file is loaded into other Hooks; use a File for each, or unload it first")
	}
	text, err := textfile.Read(f.Path, maxFile)
	if err != nil {
		return err
	}
	if f.hooks != nil && f.text == string(text) {
		return nil
	}
	all, err := decode(&document{name: f.Path, text: text})
	if err != nil {
		return err
	}
	kept := make(map[string]declared)
	var enabled declarations
	for _, d := range all {
		one, ok := f.kept[string(d.at.raw)]
		if !ok {
			if one, err = f.make(d); err != nil {
				return err
			}
		}
		kept[string(d.at.raw)] = one
		if !d.disabled {
			one.options = append(slices.Clip(one.options), hookkit.Site(d.at.position())) // where it is now
			enabled = append(enabled, one)
		}
	}
	f.use(hooks, enabled)
	f.retire(kept)
	f.hooks, f.text, f.kept = hooks, string(text), kept
	return nil
}

// retire ends the processes of the last load that are not kept.
func (f *File) retire(kept map[string]declared) {
	for text, one := range f.kept {
		if _, ok := kept[text]; !ok && one.process != nil {
			one.process.retire()
		}
	}
}

// use replaces the registration by one of the enabled hooks.
func (f *File) use(hooks *agent.Hooks, enabled declarations) {
	switch {
	case len(enabled) == 0 && f.reg != nil:
		f.reg.Remove()
		f.reg = nil
	case len(enabled) == 0:
	case f.reg != nil:
		f.reg = hooks.Use(enabled, hookkit.Replacing(f.reg))
	default:
		f.reg = hooks.Use(enabled)
	}
}

// Unload removes the hooks that Load added, and nothing else. Fires that have begun still call them. A process that has
// nothing to do is ended before Unload returns, and others after their last reply. Unload reports whether the file was
// loaded.
func (f *File) Unload() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hooks == nil {
		return false
	}
	f.use(f.hooks, nil)
	f.retire(nil)
	f.hooks, f.text, f.kept = nil, "", nil
	return true
}

// declarations are the enabled hooks of a file, in their order.
type declarations []declared

// Bind adds the hooks.
func (all declarations) Bind(h *agent.Hooks) {
	for _, d := range all {
		h.Use(d.hook, d.options...)
	}
}
