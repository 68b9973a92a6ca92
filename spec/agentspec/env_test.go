package agentspec_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"github.com/hookgen/hookgen/spec/agentspec"
)

// A still clock never advances.
type still struct{ slept time.Duration }

func (*still) Now() time.Time { return time.Unix(1, 0) }

func (s *still) Sleep(_ context.Context, d time.Duration) error {
	s.slept += d
	return nil
}

type tenEach struct{}

func (tenEach) CountTokens(messages []agentspec.Message) int { return 10 * len(messages) }

func TestAnEnvUsesItsFields(t *testing.T) {
	clock := new(still)
	var exceeded []agentspec.BudgetExceeded
	e := &agentspec.Env{
		Clock:    clock,
		Tokens:   tenEach{},
		Counters: func() agentspec.Counters { return agentspec.Counters{Step: 7} },
		Exceeded: func(_ context.Context, b agentspec.BudgetExceeded) { exceeded = append(exceeded, b) },
	}
	t.Run("Now", func(t *testing.T) {
		if got := e.Now(); !got.Equal(time.Unix(1, 0)) {
			t.Errorf("got %v", got)
		}
	})
	t.Run("Sleep", func(t *testing.T) {
		if err := e.Sleep(t.Context(), time.Hour); err != nil || clock.slept != time.Hour {
			t.Errorf("slept %v, %v", clock.slept, err)
		}
	})
	t.Run("CountTokens", func(t *testing.T) {
		if got := e.CountTokens(make([]agentspec.Message, 3)); got != 30 {
			t.Errorf("got %d", got)
		}
	})
	t.Run("Count", func(t *testing.T) {
		if got := e.Count(); got.Step != 7 {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("ReportBudget", func(t *testing.T) {
		e.ReportBudget(t.Context(), agentspec.BudgetExceeded{Kind: agentspec.BudgetCost})
		if len(exceeded) != 1 || exceeded[0].Kind != agentspec.BudgetCost {
			t.Errorf("got %+v", exceeded)
		}
	})
}

func TestLabelsNameTheOwnerOfARun(t *testing.T) {
	env := &agentspec.Env{Tenant: "acme", User: "ann"}
	if got, want := env.WireLabels(), map[string]string{"tenant": "acme", "user": "ann"}; !maps.Equal(got, want) {
		t.Errorf("the labels are %v, want %v", got, want)
	}
	if got := (*agentspec.Env)(nil).WireLabels(); len(got) > 0 {
		t.Errorf("the labels of no environment are %v", got)
	}
}
