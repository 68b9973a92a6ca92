package model

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
)

// A came is what came of one fire, in words that the model and the stage share.
type came struct {
	Ran       []string // hooks and acts, with the payload they saw
	Exit      string
	Left      string
	Collected []string
	Err       string
	Result    fixture.Result
	Gone      bool     // the goroutine ended; nothing came back
	Told      []string // observers, in order
	Traced    []string // events, in order
	Later     []string // what Async observers are told, failures of observers, and logs, in no order
}

// same reports whether two are the same, nil and empty lists alike.
func same(a, b came) bool { return reflect.DeepEqual(a.plain(), b.plain()) }

func (c came) plain() came {
	c.Later = slices.Sorted(slices.Values(c.Later))
	for _, list := range []*[]string{&c.Ran, &c.Collected, &c.Told, &c.Traced, &c.Later} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return c
}

// What the parts say.
func saysRan(name string, item fixture.Item) string { return name + "(" + payload(item) + ")" }

func saysHook(tracer int, hook string, depth int, decision string, failed bool) string {
	return fmt.Sprintf("t%d: %s of layer %d: %q failed=%v", tracer, hook, depth, decision, failed)
}

func saysFired(tracer int, by, decision string, failed bool) string {
	return fmt.Sprintf("t%d: fired, by %q: %q failed=%v", tracer, by, decision, failed)
}

func saysObserver(tracer int, name string) string {
	return fmt.Sprintf("t%d: observer %s failed", tracer, name)
}

func saysLog(name string) string { return "log: " + name }

// payload says what matters of a payload.
func payload(item fixture.Item) string { return string(item.Note) + ";" + item.Tool }

// A view is what an observer sees, less what differs from run to run.
type view struct {
	By, Decision, Reason string
	Failures             []string
	Payload, Left, Exit  string
	Collected, Ballots   []string
	Result               fixture.Result
	Err                  string
}

func (v view) String() string {
	type fields view // without this method
	return fmt.Sprintf("%+v", fields(v))
}

// sees returns the view of a point's own Fired, or of an AnyFired.
func sees(fired any) view {
	part := func(field string) any { return partOf(fired, field) }
	verdict := part("Verdict").(hookkit.Verdict)
	v := view{By: verdict.By, Decision: verdict.Decision, Reason: verdict.Reason, Payload: payload(part("Payload").(fixture.Item))}
	v.Left = v.Payload
	if left, ok := part("Left").(fixture.Item); ok {
		v.Left = payload(left)
	}
	v.Exit = nameOf(part("Exit")) + nameOf(part("Outcome")) // there is one of them at most
	v.Collected, _ = part("Collected").([]string)
	v.Result, _ = part("Result").(fixture.Result)
	err, _ := part("Err").(error)
	v.Err = inWords(err)
	ballots, _ := part("Ballots").([]hookkit.Ballot)
	for _, b := range ballots {
		v.Ballots = append(v.Ballots, b.By+" "+b.Decision)
	}
	for _, f := range verdict.Failures {
		v.Failures = append(v.Failures, inWords(f))
	}
	return v
}

// partOf returns a field of what an observer was told, nil if there is none.
func partOf(fired any, field string) any {
	if v := reflect.ValueOf(fired).FieldByName(field); v.IsValid() {
		return v.Interface()
	}
	return nil
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

// nameOf names an exit.
func nameOf(exit any) string {
	if exit == nil {
		return ""
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", exit), "fixture.")
}
