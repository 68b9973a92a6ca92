package ownerpath

import (
	"path/filepath"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/filename"
)

// Of returns a path relative to the directory of all owners, with one element for each of the three names. Different
// owners have different paths, and no path leads elsewhere.
func Of(owner agent.Identity) string {
	return filepath.Join(filename.Of(owner.Tenant), filename.Of(owner.User), filename.Of(owner.Conversation))
}
