package model

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A Came is what came of one fire, in words that the model and the stage share.
type Came struct {
	Ran       []string // hooks and acts, with the payload they saw
	Exit      string
	Final     string
	Collected []string
	Err       string
	Result    fixture.Result
	By        string   // of FireBy and PointInfo.Fire
	Bys       []string // of FireBy at a point that collects
	Gone      bool     // the goroutine ended; nothing Came back
	Told      []string // observers, in order
	Traced    []string // events, in order
	Later     []string // what Async observers see, failures of observers, and reports, in no order
}

// same reports whether two are the same, nil and empty lists alike.
func same(a, b Came) bool { return reflect.DeepEqual(a.plain(), b.plain()) }

func (c Came) plain() Came {
	c.Later = slices.Sorted(slices.Values(c.Later))
	for _, list := range []*[]string{&c.Ran, &c.Collected, &c.Bys, &c.Told, &c.Traced, &c.Later} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return c
}

// What the parts say.
func saysRan(name string, item fixture.Item) string { return name + "(" + payload(item) + ")" }

func saysHook(tracer, hook string, depth int, decision string, failed bool) string {
	return fmt.Sprintf("%s: %s of layer %d: %q failed=%v", tracer, hook, depth, decision, failed)
}

func saysFired(tracer, by, decision string, failed bool) string {
	return fmt.Sprintf("%s: fired, by %q: %q failed=%v", tracer, by, decision, failed)
}

func saysObserver(tracer, name string) string {
	return fmt.Sprintf("%s: observer %s failed", tracer, name)
}

func saysReport(handler int, name string) string {
	if handler < 0 {
		return "log: " + name
	}
	return fmt.Sprintf("handler of layer %d: %s", handler, name)
}

// credits says who decided what, and why.
func credits(by, decision, reason string) string {
	if by+decision+reason == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s, %s", by, decision, reason)
}

// payload says what matters of a payload.
func payload(item fixture.Item) string { return fmt.Sprintf("%d;%s;%s", item.ID, item.Note, item.Tool) }

// A view is what an observer sees, less what differs from run to run.
type view struct {
	By, Decision, Reason string
	Failures             []string
	Payload, Final, Exit string
	Collected, Ballots   []string
	Result               fixture.Result
	Err                  string
}

func (v view) String() string {
	type fields view // without this method
	return fmt.Sprintf("%+v", fields(v))
}

// sees returns the view of what an observer received.
func sees(f points.Fired) view {
	v := view{By: f.By, Decision: f.Decision, Reason: f.Reason, Payload: payload(f.Payload), Final: payload(f.Final),
		Exit: points.NameOf(f.Exit), Collected: f.Collected, Result: f.Result, Err: inWords(f.Err)}
	for _, b := range f.Ballots {
		v.Ballots = append(v.Ballots, credits(b.By, b.Decision, b.Reason))
	}
	for _, f := range f.Failures {
		v.Failures = append(v.Failures, inWords(f))
	}
	return v
}

// inWords returns an error in words: a failure with the name of its hook.
func inWords(err error) string {
	var f *hookkit.Failure
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return f.Hook + ": " + f.Cause.Error()
	}
	return err.Error()
}
