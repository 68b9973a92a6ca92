// Command hooklog shows the records that hooks leave: the lines of JSON that package hookkit/wire writes. It needs no
// generated code, so it reads the records of every spec. Its manual is hooklog -h.
package main

import (
	"context"
	"os"
	"os/signal"
)

func main() { os.Exit(mainCode()) }

// mainCode runs hooklog until it is done or interrupted, and returns its exit code.
func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	i := &invocation{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	return i.run(ctx, os.Args[1:])
}
