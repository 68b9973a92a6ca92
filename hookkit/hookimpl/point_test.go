package hookimpl

import (
	"context"
	"errors"
	"io"
	"reflect"
	"testing"

	"github.com/hookgen/hookgen/hookkit"
)

func TestAs(t *testing.T) {
	if got := As[int](7); got != 7 {
		t.Errorf("got %d", got)
	}
	if got := As[int]("7"); got != 0 {
		t.Errorf("of another type: got %d", got)
	}
	if got := As[error](nil); got != nil {
		t.Errorf("of nil: got %v", got)
	}
}

func TestDecision(t *testing.T) {
	bad := errors.New("bad")
	for name, c := range map[string]struct {
		reply   hookkit.AnyReply
		err     error
		out     error
		values  []int
		illegal bool
	}{
		"nothing":       {},
		"outcome":       {reply: hookkit.AnyReply{Outcome: io.EOF}, out: io.EOF},
		"contributions": {reply: hookkit.AnyReply{Collected: []int{1}}, values: []int{1}},
		"both": {
			reply:  hookkit.AnyReply{Outcome: io.EOF, Collected: []int{1}},
			out:    io.EOF,
			values: []int{1},
		},
		"outcome of another type": {reply: hookkit.AnyReply{Outcome: 1}, illegal: true},
		"contribution of another type": {
			reply:   hookkit.AnyReply{Outcome: io.EOF, Collected: "1"},
			out:     io.EOF,
			illegal: true,
		},
		"result":                    {reply: hookkit.AnyReply{Result: 1}, illegal: true},
		"error":                     {err: bad},
		"error and illegal outcome": {reply: hookkit.AnyReply{Outcome: 1, Collected: 2, Result: 3}, err: bad},
	} {
		t.Run(name, func(t *testing.T) {
			method := func(any, context.Context, *hookkit.Run[int], string) (error, []int, error) { return nil, nil, nil }
			hook := DecidingAndCollecting(method).MakeHook("P",
				func(context.Context, hookkit.AnyRun, hookkit.AnyCall) (hookkit.AnyReply, error) {
					return c.reply, c.err
				})
			own := hook.(func(context.Context, *hookkit.Run[int], string) (error, []int, error))
			out, values, err := own(t.Context(), nil, "")
			if out != c.out || !reflect.DeepEqual(values, c.values) || errors.Is(err, hookkit.ErrIllegal) != c.illegal ||
				c.err != nil && err != c.err || !c.illegal && c.err == nil && err != nil {
				t.Errorf("got %v, %v, %v", out, values, err)
			}
		})
	}
}

func TestAnswersRefuseOtherParts(t *testing.T) {
	for name, reply := range map[string]hookkit.AnyReply{
		"outcome":      {Outcome: io.EOF},
		"contribution": {Collected: []int{1}},
		"another type": {Result: "x"},
		"more":         {Result: 1, Outcome: io.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := AnswerOf[int](reply, nil); !errors.Is(err, hookkit.ErrIllegal) {
				t.Error(err)
			}
		})
	}
}

func TestPayloadAddresses(t *testing.T) {
	n := 7
	at := &n
	var failure error
	for name, c := range map[string]struct {
		payload any
		want    any // a pointer to what the result points to
		same    bool
	}{
		"a value":             {n, &n, false},
		"a pointer":           {&n, &n, true},
		"a pointer payload":   {at, &at, false},
		"nil of an interface": {nil, &failure, false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := addressOf(reflect.TypeOf(c.want).Elem(), c.payload)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.Interface(), c.want) || (got.Interface() == c.want) != c.same {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestPayloadsOfOtherTypesAreRefused(t *testing.T) {
	for want, payload := range map[string]any{
		"hookkit: the payload is a string; pass a int or a pointer to one": "7",
		"hookkit: the payload is a <nil>; pass a int or a pointer to one":  nil,
		"hookkit: the payload is a nil *int; pass a pointer to a value":    (*int)(nil),
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := addressOf(reflect.TypeFor[int](), payload); err == nil || err.Error() != want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestSliceOfNoContributionsIsNil(t *testing.T) {
	for _, none := range [][]int{nil, {}} {
		if got := contributions(none); got != nil {
			t.Errorf("got %v", got)
		}
	}
	if got := contributions([]int{1}); !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("got %v", got)
	}
}

func TestRewritingOfAnInterfaceAcceptsNil(t *testing.T) {
	o := outcomeOf("Replace", reflect.TypeFor[error](), func(err error, reason string) string { return reason })
	if got, err := o.New(nil, "why"); got != "why" || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if _, err := o.New(1, ""); err == nil || err.Error() != "hookkit: the value for Replace is a int; pass a error" {
		t.Errorf("got %v", err)
	}
}
