package runtime_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/tests/fixture"
	"github.com/hookgen/hookgen/tests/points"
)

// A FireResult is the result of one fire, in a text form that the model and the harness share.
type FireResult struct {
	Ran       []string // hooks and acts, with their payloads
	Exit      string
	Final     string
	Collected []string
	Err       string
	Result    fixture.Result
	By        string   // of FireBy and AnyPoint.Fire
	Bys       []string // of FireBy, for contributions and for refusals
	Gone      bool     // the goroutine ended, so Fire did not return
	Notified  []string // observers, in order
	Traced    []string // events, in order
	Later     []string // unordered: notifications of Async observers, failures of observers, and reports
}

// same reports whether two results are equal. Nil and empty lists are equal.
func same(a, b FireResult) bool { return reflect.DeepEqual(a.plain(), b.plain()) }

func (c FireResult) plain() FireResult {
	c.Later = slices.Sorted(slices.Values(c.Later))
	for _, list := range []*[]string{&c.Ran, &c.Collected, &c.Bys, &c.Notified, &c.Traced, &c.Later} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return c
}

// Text forms of the parts.
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

// credits returns the deciding hook, its decision and its reason as text.
func credits(by, decision, reason string) string {
	if by+decision+reason == "" {
		return ""
	}
	return fmt.Sprintf("%s: %s, %s", by, decision, reason)
}

// payload returns the relevant fields of a payload as text.
func payload(item fixture.Item) string { return fmt.Sprintf("%d;%s;%s", item.ID, item.Note, item.Tool) }

// A view is the notification of an observer, without values that differ between runs.
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

// sees returns the view of a notification.
func sees(f points.Fired) view {
	v := view{By: f.Hook, Decision: f.Decision, Reason: f.Reason, Payload: payload(f.Payload), Final: payload(f.Final),
		Exit: points.NameOf(f.Exit), Collected: f.Collected, Result: f.Result, Err: inWords(f.Err)}
	for _, b := range f.Ballots {
		v.Ballots = append(v.Ballots, credits(b.Hook, b.Decision, b.Reason))
	}
	for _, f := range f.Failures {
		v.Failures = append(v.Failures, inWords(f))
	}
	return v
}

// inWords returns an error as text: a failure with the name of its hook, and each of joined errors.
func inWords(err error) string {
	var f *hookkit.Failure
	joined, isJoined := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return ""
	case isJoined:
		var all []string
		for _, one := range joined.Unwrap() {
			all = append(all, inWords(one))
		}
		return strings.Join(all, "; ")
	case errors.As(err, &f):
		return f.Hook + ": " + f.Cause.Error()
	}
	return err.Error()
}
