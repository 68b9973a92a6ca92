// Package nats connects agents of many processes and machines through NATS, a messaging server with a store.
//
//   - [Store] is an agent.Store, for example of memory.Facts, session.Checkpoint, session.Sessions and session.Runs.
//   - [Caller] and [Serve] let hooks of other processes decide: the transport of package wire over NATS.
//   - [Events] is a hooklog.Sink for the records of many processes. The command natslog writes them as lines.
//   - [Bucket] is the key-value store with compare-and-set below them. Keys are any texts.
//
// Start with [Connect]. The URL names a server of its own or a cluster, or the server that package embedded has started
// in this process. Nothing else of a program depends on it:
//
//	server, err := embedded.Start("/var/lib/agent")
//	...
//	conn, err := nats.Connect(server.URL())
//
// Each call ends within the time limit of the connection, see [Timeout], and when its context is done. If the server is
// not reachable, calls wait for it within their time limit and then fail. The connection is made again when the server
// is back.
//
// The package needs nats-server 2.11 or newer with JetStream. It does not link the server.
package nats
