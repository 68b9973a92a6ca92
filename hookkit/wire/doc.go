// Package wire lets hooks of other processes decide at the fire points of a program.
//
// A program fires its points as before. At a point that a hook service serves, one of the hooks is a remote one: it
// sends the payload to the service as JSON, and the service fires hooks of its own and replies with their decision. To
// the rest of the program the remote hook is a hook like any other: it has a priority and a timeout, the policy of the
// point decides what its failure means, and FireBy and observers name it.
//
// For a spec marked //hookgen:wire, hookgen generates both ends. The service:
//
//	http.Handle("/hooks", wirehttp.NewHandler(agent.Serve(&hooks, nil)))
//
// The program:
//
//	remote, err := agent.Remote(ctx, wirehttp.NewCaller("http://localhost:8080/hooks"))
//	...
//	hooks.Use(remote, hookkit.Timeout(2*time.Second))
//
// # Messages
//
// A [Request] carries one payload to the service, and a [Reply] carries one decision back. Payloads, exits and
// contributions are written by encoding/json, so their types decide how they look. Points that wrap an act, and points
// marked //hookgen:local, have no messages.
//
// A payload is read leniently: a service that is older than the program ignores fields that it does not know. A
// decision is read strictly, because a decision that is half understood would be half obeyed. An unknown decision, a
// field that the exit does not have, a field given twice, and a value of the wrong type are failures of the remote
// hook. The text of the failure contains the path in the JSON, for example $.value.Reason.
//
// # Transports
//
// A [Caller] sends requests, and a [Handler] answers them. Package wirehttp has both for HTTP, and package wireexec has
// them for commands and for processes that speak JSON lines. This package contains no transport, so a program links
// only the ones that it imports. A Handler is also a Caller, so a test can connect both ends without a transport.
//
// # Where to start
//
// A program with remote hooks needs [Points] and a transport. Only a transport needs [Request], [Reply], [Description]
// and [Unmarshal]. Package hooklog keeps records of fires in the same encoding.
package wire
