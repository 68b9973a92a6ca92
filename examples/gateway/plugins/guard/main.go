// Command guard is a plug-in in WebAssembly: nobody gets files whose names begin with a dot.
package main

import (
	"context"
	"strings"

	"github.com/hookgen/hookgen/contrib/wasm/guest"

	"example.com/gateway/points"
)

func init() {
	hooks := new(points.Hooks)
	hooks.OnRequest.AddFunc(guard)
	guest.Serve(points.Serve(hooks, nil))
}

func guard(_ context.Context, _ *points.Run, r points.Request) (points.OnRequestOutcome, error) {
	if strings.Contains(r.Target.Path, "/.") {
		return points.Respond{Status: 404, Body: "not found\n", Reason: "a hidden file"}, nil
	}
	return nil, nil
}

func main() {}
