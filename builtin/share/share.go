package share

import (
	"errors"
	"fmt"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/generated/agent"
)

// A Scope selects the runs that share the data of a hook. For example, a memory.Facts with Share: share.User has one
// memory for all conversations of a user. The zero value is Conversation.
//
// A name that is missing is never shared. For example, with the scope User, a run without a user shares its data with
// its own conversation only. A run without a named conversation then shares its data only with the runs that it starts.
type Scope int

// The scopes, from the narrowest to the widest.
const (
	Conversation Scope = iota // runs of the same conversation of the same user and tenant
	User                      // runs of the same user of the same tenant
	Tenant                    // runs of the same tenant
	Everyone                  // all runs; for programs that serve one person, and for data that everybody may see
)

var names = [...]string{"Conversation", "User", "Tenant", "Everyone"}

// String returns the name of the scope.
func (s Scope) String() string {
	if s < 0 || int(s) >= len(names) {
		return fmt.Sprintf("Scope(%d)", int(s))
	}
	return names[s]
}

// Check returns an error if s is not one of the scopes.
func (s Scope) Check() error {
	if s < Conversation || s > Everyone {
		return fmt.Errorf("Share is %d; give share.Conversation, share.User, share.Tenant or share.Everyone", int(s))
	}
	return nil
}

// Of returns the part of an identity that the runs of the scope have in common. It is the key of their shared data. All
// runs of the scope Everyone have the zero Identity.
func (s Scope) Of(id agent.Identity) agent.Identity {
	switch {
	case s.Check() != nil:
		return id
	case s == Everyone:
		return agent.Identity{}
	case s >= Tenant && id.Tenant != "":
		return agent.Identity{Tenant: id.Tenant}
	case s >= User && id.User != "":
		return agent.Identity{Tenant: id.Tenant, User: id.User}
	}
	return id
}

// Owner returns the key of the data that a run shares.
func (s Scope) Owner(run *agent.Run) agent.Identity { return s.Of(kit.Owner(run)) }

// Address returns the key of the data that the caller names by an identity, for example of the conversation to steer.
// It returns an error if the identity lacks a name, because the data would belong to no run.
func (s Scope) Address(id agent.Identity) (agent.Identity, error) {
	owner := s.Of(id)
	if s != Everyone && owner == id && id.Conversation == "" && (s < User || id.User == "") &&
		(s < Tenant || id.Tenant == "") {
		return agent.Identity{}, errors.New("the identity names no conversation; give its name, " +
			"or set Share to a wider scope and name the user or the tenant")
	}
	return owner, nil
}
