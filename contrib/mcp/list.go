package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// toolsChanged makes the server list its tools again.
func (s *Server) toolsChanged() {
	select {
	case s.relist <- struct{}{}:
	default: // it is about to
	}
}

// follow lists the tools again each time they may have changed, until the server is closed.
func (s *Server) follow() {
	for {
		select {
		case <-s.life.Done():
			return
		case <-s.relist:
		}
		s.mu.Lock()
		conn := s.conn
		s.mu.Unlock()
		ctx, cancel := s.within(s.life, s.opts.ConnectTime)
		if err := s.list(ctx, conn); err != nil && s.life.Err() == nil {
			s.mu.Lock()
			s.warnings = append(s.warnings[:min(len(s.warnings), maxWarnings)],
				"the tools may have changed, but: "+s.failure(ctx, conn, "listing the tools of", err).Error())
			s.mu.Unlock()
		}
		cancel()
	}
}

// list asks for the tools of the server and keeps those that an agent can use.
func (s *Server) list(ctx context.Context, conn *connection) error {
	l := lister{s: s, taken: make(map[string]bool)}
	cursor := ""
	for page := 1; ; page++ {
		result, err := ask(ctx, s, conn, func(ctx context.Context) (*sdk.ListToolsResult, error) {
			return conn.session.ListTools(ctx, &sdk.ListToolsParams{Cursor: cursor})
		})
		if err != nil {
			return err
		}
		for _, t := range result.Tools {
			l.add(t)
		}
		if result.NextCursor == "" || result.NextCursor == cursor || page == maxPages || len(l.tools) == maxTools {
			break
		}
		cursor = result.NextCursor
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range l.tools {
		if first, known := s.first[t.schema.Name]; known && !reflect.DeepEqual(first, t.schema) {
			l.warn("the tool %q has changed since it was first listed", bounded(t.remote, maxToolName))
		} else if !known && len(s.first) < maxTools {
			s.first[t.schema.Name] = t.schema
		}
	}
	s.tools, s.warnings = l.tools, l.warnings
	return nil
}

// A lister collects the usable tools of a list.
type lister struct {
	s        *Server
	taken    map[string]bool
	tools    []*tool
	warnings []string
}

func (l *lister) add(t *sdk.Tool) {
	if len(l.tools) == maxTools {
		l.leaveOut(t.Name, fmt.Sprintf("a server can have at most %d tools", maxTools))
		return
	}
	schema, err := l.s.schema(t)
	switch {
	case err != nil:
		l.leaveOut(t.Name, err.Error())
	case l.taken[schema.Name]:
		l.leaveOut(t.Name, "another tool has the same name")
	default:
		l.taken[schema.Name] = true
		l.tools = append(l.tools, &tool{server: l.s, remote: t.Name, schema: schema})
	}
}

func (l *lister) leaveOut(name, reason string) {
	l.warn("the tool %q is left out: %s", bounded(name, maxToolName), l.s.clean(reason, maxProblem))
}

func (l *lister) warn(format string, args ...any) {
	if len(l.warnings) < maxWarnings {
		l.warnings = append(l.warnings, fmt.Sprintf(format, args...))
	}
}

// schema returns the schema of a tool for models.
func (s *Server) schema(t *sdk.Tool) (agent.ToolSchema, error) {
	schema := agent.ToolSchema{
		Name: toolName(s.name, t.Name), Description: bounded(t.Description, maxDescription),
		ReadOnly:   s.opts.TrustHints && t.Annotations != nil && t.Annotations.ReadOnlyHint,
		Idempotent: s.opts.TrustHints && t.Annotations != nil && t.Annotations.IdempotentHint,
	}
	if t.Name == "" {
		return schema, fmt.Errorf("it has no name")
	}
	parameters, ok := t.InputSchema.(map[string]any)
	if !ok {
		return schema, fmt.Errorf("its input schema is not an object")
	}
	if parameters["type"] == nil { // model providers need it
		parameters["type"] = "object"
	}
	if parameters["type"] != "object" {
		return schema, fmt.Errorf(`its input schema has the type %v and not "object"`, parameters["type"])
	}
	text, err := json.Marshal(parameters)
	if err != nil {
		return schema, err
	}
	if len(text) > maxSchema {
		return schema, fmt.Errorf("its input schema has %d bytes; the limit is %d", len(text), maxSchema)
	}
	schema.Parameters = text
	return schema, loop.CheckSchema(schema)
}
