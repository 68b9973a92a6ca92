// Package kill kills programs that write files, at random moments, and checks the files.
//
// For each writer, a process writes one version after the other until SIGKILL ends it without cleanup. Then the
// production reader reads the file. The file must hold the last version reported as written, or the next one, and
// must be complete. A restarted process continues from there. Append-only files may end with an unfinished line;
// the reader must report the line, and the next line must be complete.
//
//	go test ./tests/stress/kill                                a few dozen kills for each
//	go test ./tests/stress/kill -kills 400 -timeout 0 -report  more, with a report in docs/evidence/figures
//
// A kill is not a power failure: these tests do not show which data survives on disk when a machine loses power.
package kill
