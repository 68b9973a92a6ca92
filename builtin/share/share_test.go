package share_test

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestOwnersOfScopes(t *testing.T) {
	type id = agent.Identity
	full := id{Tenant: "t", User: "u", Conversation: "c"}
	for _, c := range []struct {
		name  string
		scope share.Scope
		id    id
		want  id
	}{
		{"conversation", share.Conversation, full, full},
		{"user", share.User, full, id{Tenant: "t", User: "u"}},
		{"tenant", share.Tenant, full, id{Tenant: "t"}},
		{"everyone", share.Everyone, full, id{}},
		{"an unknown user", share.User, id{Tenant: "t", Conversation: "c"}, id{Tenant: "t", Conversation: "c"}},
		{"an unknown tenant", share.Tenant, id{User: "u", Conversation: "c"}, id{User: "u"}},
		{"only a conversation", share.Tenant, id{Conversation: "c"}, id{Conversation: "c"}},
		{"nothing", share.Everyone, id{}, id{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.scope.Of(c.id); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if got, err := c.scope.Address(c.id); got != c.want || err != nil {
				t.Errorf("the address is %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

func TestAddressesNeedANamedOwner(t *testing.T) {
	for name, c := range map[string]struct {
		scope share.Scope
		id    agent.Identity
	}{
		"no conversation": {share.Conversation, agent.Identity{Tenant: "t", User: "u"}},
		"no user":         {share.User, agent.Identity{Tenant: "t"}},
		"no tenant":       {share.Tenant, agent.Identity{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := c.scope.Address(c.id); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestUnnamedRunsShareNothing(t *testing.T) {
	run := agent.NewRun(&agent.Env{User: "u"})
	other := agent.NewRun(&agent.Env{User: "u"})
	child := run.Child(&agent.Env{User: "u"})
	for _, c := range []struct {
		name  string
		scope share.Scope
		same  bool // run and other have the same owner
	}{
		{"conversation", share.Conversation, false}, {"user", share.User, true},
		{"tenant", share.Tenant, true}, {"everyone", share.Everyone, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.scope.Owner(run) == c.scope.Owner(other); got != c.same {
				t.Errorf("owners %+v and %+v", c.scope.Owner(run), c.scope.Owner(other))
			}
			if c.scope.Owner(run) != c.scope.Owner(child) {
				t.Errorf("a sub-run has the owner %+v, the run %+v", c.scope.Owner(child), c.scope.Owner(run))
			}
		})
	}
}

func TestOnlyTheFourScopesAreValid(t *testing.T) {
	for s := share.Scope(-2); s < 7; s++ {
		t.Run(s.String(), func(t *testing.T) {
			if valid := s >= share.Conversation && s <= share.Everyone; (s.Check() == nil) != valid {
				t.Errorf("%v", s.Check())
			}
		})
	}
}
