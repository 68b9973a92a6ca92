package loop

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/generated/agent"
)

// A table holds the tools of a run. The agents that it can hand over to and the done tool are entries too.
type table struct {
	mu      sync.Mutex
	entries []*entry
	closed  bool
}

// An entry is a tool with its schema ready to check arguments. Exactly one of tool, target and done is set.
type entry struct {
	schema agent.ToolSchema
	args   *jsonschema.Resolved
	tool   agent.Tool
	target *Agent // that control is handed to
	done   bool
}

// newTable returns the table of an agent's runs.
func newTable(a *Agent) (*table, error) {
	t := new(table)
	var errs []error
	for _, tool := range a.Tools {
		errs = append(errs, t.Add(tool))
	}
	for _, target := range a.Handoffs {
		errs = append(errs, t.add(&entry{schema: handoffSchema(target), target: target}))
	}
	if a.Done.Name != "" {
		errs = append(errs, t.add(&entry{schema: a.Done, done: true}))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, fmt.Errorf("agent %q: %w", a.name(), err)
	}
	return t, nil
}

// Add adds a tool for this run.
func (t *table) Add(tool agent.Tool) error {
	if isNil(tool) {
		return errors.New("the tool is nil; pass a value")
	}
	var schema agent.ToolSchema
	if err := contain(fmt.Sprintf("Schema of the tool %T", tool), func() error { schema = tool.Schema(); return nil }); err != nil {
		return err
	}
	return t.add(&entry{schema: schema, tool: tool})
}

func (t *table) add(e *entry) (err error) {
	if e.schema.Name == "" {
		return fmt.Errorf("a tool (%T) has no name; give its schema one", e.tool)
	}
	if e.args, err = resolve(e.schema); err != nil {
		return err
	}
	e.schema.Parameters = slices.Clone(e.schema.Parameters)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return fmt.Errorf("the run is over; add the tool %q while it runs", e.schema.Name)
	}
	if t.find(e.schema.Name) != nil {
		return fmt.Errorf("there are two tools %q; give each a name of its own", e.schema.Name)
	}
	t.entries = append(t.entries, e)
	return nil
}

// find returns the entry of a name, nil if there is none. The caller holds the lock.
func (t *table) find(name string) *entry {
	for _, e := range t.entries {
		if e.schema.Name == name {
			return e
		}
	}
	return nil
}

func (t *table) entry(name string) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.find(name)
}

// Lookup returns the schema of a tool.
func (t *table) Lookup(name string) (agent.ToolSchema, bool) {
	e := t.entry(name)
	if e == nil {
		return agent.ToolSchema{}, false
	}
	return copied(e.schema), true
}

// Schemas returns the schemas of all tools.
func (t *table) Schemas() []agent.ToolSchema {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []agent.ToolSchema
	for _, e := range t.entries {
		out = append(out, copied(e.schema))
	}
	return out
}

func (t *table) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
}

func copied(s agent.ToolSchema) agent.ToolSchema {
	s.Parameters = slices.Clone(s.Parameters)
	return s
}

// resolve makes a schema ready to check arguments. Without parameters it takes any object.
func resolve(s agent.ToolSchema) (*jsonschema.Resolved, error) {
	text := s.Parameters
	if len(text) == 0 {
		text = json.RawMessage(`{"type":"object"}`)
	}
	if nested(text, maxNesting) {
		return nil, fmt.Errorf("the parameters of the tool %q have more than %d levels; use fewer", s.Name, maxNesting)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal(text, &schema); err != nil {
		return nil, fmt.Errorf("the parameters of the tool %q are no JSON Schema: %w", s.Name, err)
	}
	var resolved *jsonschema.Resolved
	err := contain("resolving it", func() (err error) {
		if resolved, err = schema.Resolve(nil); err != nil {
			return err
		}
		return bounded(&schema)
	})
	if err != nil {
		return nil, fmt.Errorf("the parameters of the tool %q are no usable JSON Schema: %w", s.Name, err)
	}
	return resolved, nil
}

// fits reports why arguments cannot be given to the entry, nil if they can.
func (e *entry) fits(args json.RawMessage, limit int) *agent.ToolError {
	unusable := func(format string, a ...any) *agent.ToolError {
		return &agent.ToolError{Kind: agent.FailArguments, Message: fmt.Sprintf(format, a...)}
	}
	if limit > 0 && len(args) > limit {
		return unusable("the arguments have %d bytes, the limit is %d; send less", len(args), limit)
	}
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return unusable("the arguments of %s are not JSON: %v; send one JSON object", e.schema.Name, err)
	}
	if nested(args, maxNesting) {
		return unusable("the arguments of %s have more than %d levels; use fewer", e.schema.Name, maxNesting)
	}
	err := contain("checking them", func() error { return e.args.Validate(value) })
	if err != nil {
		return unusable("the arguments do not fit the parameters of %s: %v", e.schema.Name, err)
	}
	return nil
}

// unknown is the error about a call of a tool that is not there.
func (t *table) unknown(name string) *agent.ToolError {
	var names []string
	for _, s := range t.Schemas() {
		names = append(names, s.Name)
	}
	hint := "there are no tools; answer without one"
	if len(names) > 0 {
		hint = "the tools are: " + strings.Join(names, ", ")
	}
	return &agent.ToolError{Kind: agent.FailUnknown, Message: fmt.Sprintf("there is no tool %q; %s", name, hint), NoRetry: true}
}
