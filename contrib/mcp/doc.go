// Package mcp connects agents with servers of the Model Context Protocol, in both directions.
//
// An agent that needs the files of a project, a browser and an issue tracker takes each from a server that somebody
// else wrote. [Connect] starts or finds such a server, and [Server.Tools] returns its tools for [loop.Agent]:
//
//	command := mcp.Command{Args: []string{"mcp-server-filesystem", "/project"}}
//	files, err := mcp.Connect(ctx, "files", command, mcp.Options{})
//	if err != nil {
//		return err
//	}
//	defer files.Close()
//	a := &loop.Agent{Model: model, Tools: files.Tools()}
//
// A server runs as a child process ([Command]), elsewhere ([HTTP]) or in the same program ([InProcess]).
//
// A program that is itself such a server guards its tools with hooks: [Middleware] fires the points of an agent for
// each call of a client.
//
// # Trust
//
// The names, descriptions and results of a server are text from a stranger, and models read them. A description may
// ask the model to send a secret to another tool. This package bounds such texts and never runs them, but it cannot
// make them true. Give an agent only servers that you would install, decide about their calls with hooks of
// OnPermission, and treat their results as you would treat a web page.
//
// Start with [Connect] to use a server, and with [Middleware] to guard one.
package mcp
