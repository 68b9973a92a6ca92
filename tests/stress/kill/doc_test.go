// Package kill kills programs that write files, at random moments, and reads what they left.
//
// For each thing that writes, a process writes one version after the other until it is killed (SIGKILL, so that nothing
// of it can clean up). Then the file is read by what reads it in use. It must hold the last version whose write was
// reported as done, or the one after it, and that one whole. A process that is started again goes on from there. In files
// to which lines are appended a last line may be unfinished; the reader must say so and the next line be whole.
//
//	go test ./tests/stress/kill                                a few dozen kills for each
//	go test ./tests/stress/kill -kills 400 -timeout 0 -report  more, with a report in docs/figures
//
// A kill is not a power failure: what these tests show of a process that ends does not show what is on the disk when a
// machine ends.
package kill
