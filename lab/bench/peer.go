package main

// A peer is another hook library, configured as the closest equivalent of a flow.
type peer struct {
	name  string
	quiet func(n int) func(fires int) // returns a loop over n hooks that continue
}

// peers returns the peers, the fastest first.
func peers() []peer {
	return []peer{mcpGo(), eino(), pocketBase()}
}

// The names of the peers.
const (
	namePocketBase = "PocketBase v0.36.8, tools/hook"
	nameEino       = "eino v0.7.36, callbacks"
	nameMCP        = "mcp-go v1.2.1, generated hooks"
)
