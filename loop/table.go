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
	"github.com/hookgen/hookgen/internal/spelling"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// A table has the tools of a run, including its handoff targets and the done tool.
type table struct {
	agent *Agent

	mu       sync.Mutex
	byName   map[string]*entry
	schemas  []agent.ToolSchema // of all tools, for hooks and models
	estimate int                // tokens of the schemas
	closed   bool
}

// An entry is a tool with a compiled schema. Exactly one of tool, target and done is set.
type entry struct {
	schema   agent.ToolSchema
	args     *jsonschema.Resolved
	shape    *shape // of args; may be nil
	tool     agent.Tool
	what     string // the name of the tool in errors
	dispatch string // the name of its dispatch in errors
	target   *Agent // of a handoff
	done     bool
}

// newTable returns the table of an agent's runs. The done tool takes an answer of the given type, unless that is nil.
func newTable(a *Agent, answer *typed) (*table, error) {
	t := &table{agent: a, byName: make(map[string]*entry)}
	var errs []error
	for _, tool := range a.Tools {
		errs = append(errs, t.Add(tool))
	}
	for _, target := range a.Handoffs {
		errs = append(errs, t.add(&entry{schema: handoffSchema(target), target: target}))
	}
	if a.Done.Name != "" {
		done := a.Done
		if answer != nil {
			done.Parameters = answer.Schema
		}
		errs = append(errs, t.add(&entry{schema: done, done: true}))
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
	err := recoverAsError(fmt.Sprintf("Schema of the tool %T", tool), func() error { schema = tool.Schema(); return nil })
	if err != nil {
		return err
	}
	return t.add(&entry{schema: schema, tool: tool})
}

func (t *table) add(e *entry) (err error) {
	if e.schema.Name == "" {
		return fmt.Errorf("a tool (%T) has no name; give its schema one", e.tool)
	}
	if e.args, err = t.agent.resolved(e.schema); err != nil {
		return err
	}
	e.shape = shapeOf(e.args.Schema())
	e.schema.Parameters = slices.Clone(e.schema.Parameters)
	e.what, e.dispatch = "the tool "+e.schema.Name, "the dispatch of "+e.schema.Name
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return fmt.Errorf("the run has ended; add the tool %q while it runs", e.schema.Name)
	}
	if t.byName[e.schema.Name] != nil {
		return fmt.Errorf("there are two tools %q; give each a name of its own", e.schema.Name)
	}
	t.byName[e.schema.Name] = e
	t.schemas = append(t.schemas, copied(e.schema))
	t.estimate += agentspec.EstimateTools(t.schemas[len(t.schemas)-1:])
	return nil
}

// entry returns the entry of a name, or nil.
func (t *table) entry(name string) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.byName[name]
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
	return slices.Clone(t.schemas)
}

// tokens returns the estimated tokens of the schemas in a request.
func (t *table) tokens() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.estimate
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

// keptSchemas bounds the cache of schemas of an agent.
const keptSchemas = 1024

// resolved returns a compiled schema. The agent caches it, because compiling takes longer than a short run.
func (a *Agent) resolved(s agent.ToolSchema) (*jsonschema.Resolved, error) {
	a.mu.Lock()
	known := a.schemas[string(s.Parameters)]
	a.mu.Unlock()
	if known != nil {
		return known, nil
	}
	resolved, err := resolve(s)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.schemas == nil || len(a.schemas) >= keptSchemas {
		a.schemas = make(map[string]*jsonschema.Resolved)
	}
	a.schemas[string(s.Parameters)] = resolved
	return resolved, nil
}

// CheckSchema returns the error with which an agent would refuse a tool of this schema, or nil. Use it for tools that
// come from elsewhere, for example from a server: leave out the unusable ones, so that the agent runs with the others.
func CheckSchema(s agent.ToolSchema) error {
	if s.Name == "" {
		return errors.New("the tool has no name; give its schema one")
	}
	_, err := resolve(s)
	return err
}

// resolve compiles the schema of a tool. Without parameters the tool accepts any object.
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
		return nil, fmt.Errorf("the parameters of the tool %q are not a valid JSON Schema: %w", s.Name, err)
	}
	var resolved *jsonschema.Resolved
	err := recoverAsError("resolving it", func() (err error) {
		if resolved, err = schema.Resolve(nil); err != nil {
			return err
		}
		return bounded(&schema)
	})
	if err != nil {
		return nil, fmt.Errorf("the parameters of the tool %q are not a usable JSON Schema: %w", s.Name, err)
	}
	return resolved, nil
}

// unknown returns the error for a call of a tool that does not exist.
func (t *table) unknown(name string) *agent.ToolError {
	var names []string
	for _, s := range t.Schemas() {
		names = append(names, s.Name)
	}
	hint := "there are no tools; answer without one"
	if len(names) > 0 {
		hint = "the tools are: " + strings.Join(names, ", ")
	}
	if meant := spelling.Suggest(name, names); meant != "" {
		hint = fmt.Sprintf("did you mean %s? %s", meant, hint)
	}
	return &agent.ToolError{
		Kind: agent.FailUnknown, Message: fmt.Sprintf("there is no tool %s; %s", quoted(name), hint), NoRetry: true,
	}
}
