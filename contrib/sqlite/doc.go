// Package sqlite keeps what an agent must not forget in one SQLite file.
//
//   - [Store] is an agent.Store, for example of state.Checkpoint and record.History.
//   - [Sessions] is an agent.SessionStore, for state.Persist.
//   - [Memory] is a memory.Store, for package memory and record.Episodes.
//   - [AuditLog] is a record.AuditStore, for record.Audit.
//
// For example:
//
//	db, err := sqlite.Open("agent.db", sqlite.Options{})
//	...
//	hooks.Use(&state.Persist{Store: sqlite.Sessions{DB: db}})
//	hooks.Use(&record.Audit{Store: sqlite.AuditLog{DB: db}})
//
// Any number of processes may use the file. What a call has stored is on the disk when the call returns. If the process
// is killed during a call, all of the change is stored, or nothing.
//
// The driver is modernc.org/sqlite, which needs no C compiler. Start with [Open].
package sqlite
