// Package sqlite keeps the sessions, memory, audit log and records of agents in one SQLite file.
//
//   - [Store] is an agent.Store, for example of memory.Facts and session.Checkpoint.
//   - [Sessions] is an agent.SessionStore, for session.Persist.
//   - [AuditLog] is a record.AuditStore, for record.Audit.
//   - [EventLog] is a hooklog.Sink, for the function Record of any spec.
//
// For example:
//
//	db, err := sqlite.Open("agent.db", sqlite.Options{})
//	...
//	hooks.Use(&session.Persist{Store: sqlite.Sessions{DB: db}})
//	hooks.Use(&record.Audit{Store: sqlite.AuditLog{DB: db}})
//
// Any number of processes may use the file. A change is on the disk when its call returns. If the process is killed
// during a call, all of the change is stored, or nothing.
//
// The driver is modernc.org/sqlite, which needs no C compiler. Start with [Open].
package sqlite
