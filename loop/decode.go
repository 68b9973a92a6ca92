package loop

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// otherRelease is the remedy for a state that this release does not read. If it read a state with an unknown field, the
// field would be missing in the state of the next suspension.
const otherRelease = "resume it with the release that suspended it, or upgrade this program"

// decodeState returns the snapshot in a Suspension. It returns an error if the state is of another version, or was
// changed, or could not have been made by this package.
func decodeState(given *agent.Suspension) (*snapshot, error) {
	switch {
	case given.Version != stateVersion:
		return nil, fmt.Errorf("it has version %d, this loop reads version %d; %s", given.Version, stateVersion, otherRelease)
	case len(given.State) == 0:
		return nil, errors.New("it has no State; store AgentResult.Suspended as Run returned it, hooks get it without State")
	case given.Digest != digest(given.State):
		return nil, errors.New("the State was changed: its digest differs")
	}
	s := new(snapshot)
	err := json.Unmarshal(given.State, s)
	if err == nil {
		var field string
		if field, err = agentspec.UnknownField(given.State, s); field != "" {
			err = fmt.Errorf("its field %q is unknown", field)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the State cannot be decoded: %w; %s", err, otherRelease)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("the State is invalid: %w", err)
	}
	public := *given
	public.State, public.Digest = nil, ""
	if !sameJSON(&public, s.suspension()) {
		return nil, errors.New("it was changed: its fields differ from those in State")
	}
	return s, nil
}

// sameJSON compares two values as JSON. A store may have changed the order of keys, for example.
func sameJSON(a, b any) bool {
	decoded := func(v any) (value any, err error) {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		err = d.Decode(&value)
		return value, err
	}
	x, errX := decoded(a)
	y, errY := decoded(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// check returns an error if the tree cannot be that of a suspended run.
func (s *snapshot) check() (err error) {
	runs, asked := make(map[string]bool), make(map[string]bool)
	s.each(func(s *snapshot) {
		if err == nil {
			err = s.checkRun(asked)
		}
		if err == nil && runs[s.Run] {
			err = fmt.Errorf("it has the run %q twice", s.Run)
		}
		runs[s.Run] = true
	})
	if err == nil && len(asked) == 0 && !new(resumption).continues(s) {
		err = errors.New("it has no question and no deferred call")
	}
	return err
}

func (s *snapshot) checkRun(asked map[string]bool) error {
	switch {
	case s.Version != stateVersion:
		return fmt.Errorf("it has version %d", s.Version)
	case !validID(s.Run):
		return fmt.Errorf("%.70q cannot be the ID of a run", s.Run)
	case s.Agent == "" || s.Seed == 0 || s.Generation < 1 || s.Counters.Steps < 1:
		return errors.New("it lacks the agent, the seed or a counter")
	case (s.Target == nil) == (len(s.Calls) == 0):
		return errors.New("it has either no calls, or calls and a handoff")
	case newSource(0).restore(s.Random) != nil:
		return errors.New("it lacks the position of the random source")
	}
	if err := agentspec.CheckPairs(s.Messages, true); err != nil {
		return err
	}
	if s.Target != nil {
		return nil
	}
	var open []agent.ToolCallRequest
	if n := len(s.Messages); n > 0 {
		open = s.Messages[n-1].ToolCalls
	}
	if len(open) != len(s.Calls) || len(s.Response.ToolCalls) != len(s.Calls) {
		return errors.New("its calls are not those that end the conversation")
	}
	waits, last := false, 0
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.ID != open[i].ID {
			return errors.New("its calls are not those that end the conversation")
		}
		if c.Last {
			last++
		}
		if c.Question != nil || c.Deferred || c.waits() {
			waits = true
		}
		if err := c.check(asked, c.request(s.Counters.Steps)); err != nil {
			return fmt.Errorf("call %q: %w", c.ID, err)
		}
	}
	if !waits || last > 1 {
		return errors.New("none of its calls waits, or two of them hand over")
	}
	return nil
}

// request returns the call with its exact arguments.
func (c *savedCall) request(step int) agent.ToolCallRequest {
	return agent.ToolCallRequest{ID: c.ID, Name: c.Name, Args: c.Args, Step: step}
}

// check returns an error for a call that cannot be part of a state. It gives the question the exact arguments.
func (c *savedCall) check(asked map[string]bool, req agent.ToolCallRequest) error {
	states := 0
	for _, is := range []bool{c.Question != nil, c.Result != nil, len(c.Spawned) > 0} {
		if is {
			states++
		}
	}
	if states > 1 || c.Skip != nil && c.Question == nil || c.To != "" && !c.Last {
		return errors.New("it is in two states at once")
	}
	for _, s := range c.Spawned {
		if (s.State == nil) == (s.Result == nil) {
			return errors.New("a run that it started is neither suspended nor finished, or both")
		}
	}
	if c.Question == nil {
		return nil
	}
	q := c.Question
	if q.ID == "" || asked[q.ID] || q.Digest != questionDigest(q.ID, req) || !sameJSON(q.Call, req) {
		return errors.New("its question is not about it")
	}
	asked[q.ID], q.Call = true, req
	return nil
}
