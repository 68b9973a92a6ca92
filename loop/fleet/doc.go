// Package fleet runs agents on any number of workers, in any number of processes.
//
// For example, a web server submits a task with [Client.Submit] and answers its user. A [Worker] in another process
// takes the task, runs the agent and saves its progress after each step. The machine of the worker loses power in step
// 12. Another worker continues after step 11, and the web server gets one result from [Client.Wait].
//
//   - A run has a log: the events since its submission, in order (event.go, record.go). Each event is added only if the
//     log has not changed since its writer has read it. A worker that has lost its claim can therefore change nothing,
//     whatever its clock says.
//   - A queue has the runs that want a worker. A worker renews its claim; if it stops, the server gives the run to
//     another one. Runs that wait for a person are not in the queue and hold no worker.
//   - Replies of the model and calls of tools are in the log too (journal.go). After a crash, a recorded reply is used
//     again, and a call that has finished is not made again. A call that had begun is made again only if its tool is
//     read-only or idempotent. For any other call, a person is asked whether it was done (doubt.go).
//   - Accounts bound the model calls and tokens of users and tenants, whatever process spends them (account.go).
//
// Start with [Worker] and [Client]. A [Store] keeps all of this: package natsfleet of contrib/nats opens one on NATS,
// and [NewMemory] makes one in memory. Package fleettest has the conformance suite for others. An engine with queues of
// its own, such as contrib/temporal, uses [Worker.Advance] and [Worker.Perform] instead of [Worker.Run].
//
// # Promises
//
// Every submitted run ends exactly once with one result. A call that finished is never made again, and neither is a
// call that may have been made, unless its tool permits that or a person decides it. Package fleet cannot look into the
// world: if a process dies after the effect of a tool and before the record of it, the run asks. A tool that passes
// [CallKey] to its service, which drops a second request with the same key, needs no question: mark it with
// loop.Idempotent.
package fleet
