// Command hooklog shows the records that hooks leave: the lines of JSON that package hookkit/hooklog writes. It needs
// no generated code of your spec, so it reads the records of every spec. Its manual is hooklog -h.
package main

import (
	"context"
	"os"
)

func main() {
	i := &invocation{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, pause: pause}
	os.Exit(i.run(context.Background(), os.Args[1:]))
}
