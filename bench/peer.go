package main

// A peer is another way to have hooks, set up to do the nearest it can to a flow.
type peer struct {
	name    string
	order   string // who fires first
	decide  string // what a hook can do to the act
	recover string // what a panic does
	payload string // how hooks get at it
	// quiet and busy return a loop over n hooks that continue, or replace the payload; busy is nil where hooks cannot.
	quiet, busy func(n int) func(fires int)
}

// peers returns the peers, the quickest first.
func peers() []peer {
	return []peer{mcpGo(), grpcStyle(), entStyle(), eino(), pocketBase(), eventBus()}
}

// The peers that hookgen has a bound against.
const (
	namePocketBase = "PocketBase v0.36.0, tools/hook"
	nameEino       = "eino v0.7.36, callbacks"
	nameMCP        = "mcp-go v1.2.1, generated hooks"
)
