package agentspec_test

import (
	"testing"

	"github.com/hookgen/hookgen/spec/agentspec"
)

func TestCompactionIsEffectiveIfItSavesSomething(t *testing.T) {
	size := func(messages, tokens int) agentspec.Size { return agentspec.Size{Messages: messages, Tokens: tokens} }
	for _, c := range []struct {
		name          string
		before, after agentspec.Size
		want          bool
	}{
		{"Nothing", size(5, 100), size(5, 100), false},
		{"Larger", size(5, 100), size(6, 120), false},
		{"FewerMessages", size(5, 100), size(2, 100), true},
		{"FewerTokens", size(5, 100), size(5, 60), true},
		{"FewerMessagesWithMoreTokens", size(5, 100), size(1, 110), true},
		{"MoreMessagesWithFewerTokens", size(5, 100), size(6, 60), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (agentspec.Compacted{Before: c.before, After: c.after}).Effective(); got != c.want {
				t.Errorf("effective: %t", got)
			}
		})
	}
}
