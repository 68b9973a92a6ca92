// Package eventlog is an index of a record that package hooklog has written. The record may have gigabytes and may
// still grow: the index remembers the place of each event, and reads the event again when somebody asks for it.
//
// An event takes about 30 bytes of memory, and a run about 300. Payloads are never kept.
//
// Start reading at [Index].
package eventlog
