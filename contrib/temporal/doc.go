// Package temporal runs the agents of a fleet on Temporal, a server for workflows. Use it where Temporal is in
// operation already: its queues, timers, retries and history replace those of the fleet.
//
//   - No code of the loop or of hooks runs in workflow code. The workflow of a run schedules activities: Advance runs
//     the agent until its next calls, and Perform makes one call (workflow.go).
//   - The conversation, the replies and the questions are in a fleet.Log. The history of the workflow has only the keys
//     of calls and the answers of persons, and begins anew after 1,000 activities.
//   - An answer of a person and a cancellation are signals ([Client]). To cancel the workflow cancels the run, too. The
//     query "state" shows the state.
//
// Start with [Worker] and [Client].
//
// # Promises
//
// They are those of package fleet. Temporal runs an activity at least once; the log makes that at most once for a call
// of a tool that is neither read-only nor idempotent. If nobody knows whether such a call was made, the run asks a
// person.
package temporal
