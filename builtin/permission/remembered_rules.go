package permission

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

// maxRemembered is the most rules that a [Rules] remembers, and the most rules in one answer.
const maxRemembered = 1000

// rememberedRules are the rules that answers asked to remember. The zero value is ready to use.
type rememberedRules struct {
	mu    sync.Mutex
	rules []rememberedRule // the newest last
}

type rememberedRule struct {
	owner agent.Identity
	rule  Rule
}

// OnPermissionGranted remembers the rules of an answer.
func (p *Rules) OnPermissionGranted(_ context.Context, run *agent.Run, g agent.Grant) error {
	if len(g.Remember) == 0 {
		return nil
	}
	rules, err := ParseRules("rules to remember", g.Remember, p.Conditions...)
	if err != nil {
		return err
	}
	if len(rules) > maxRemembered {
		return fmt.Errorf("the answer has %d rules to remember; the limit is %d", len(rules), maxRemembered)
	}
	p.remembered.add(p.Share.Owner(run), rules)
	return nil
}

func (m *rememberedRules) add(owner agent.Identity, rules []Rule) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range slices.Backward(rules) { // the first rule of an answer is looked up first
		m.rules = append(m.rules, rememberedRule{owner, r})
	}
	m.rules = slices.Delete(m.rules, 0, max(len(m.rules)-maxRemembered, 0))
}

// of returns the rules of the owner of a run, the newest first.
func (m *rememberedRules) of(run *agent.Run, shared share.Scope) (rules []Rule) {
	m.mu.Lock()
	empty := len(m.rules) == 0
	m.mu.Unlock()
	if empty {
		return nil // as in most programs; naming the owner would take longer than all else
	}
	owner := shared.Owner(run) // before the lock: it asks the conversation, which is code of the program
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range slices.Backward(m.rules) {
		if r.owner == owner {
			rules = append(rules, r.rule)
		}
	}
	return rules
}
