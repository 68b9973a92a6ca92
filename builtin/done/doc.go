// Package done decides whether an answer is final: conditions, a critic model, and grades after the run.
//
// Gate and Critic reject answers at CheckDone, a bounded number of times; Eval grades finished runs and rejects
// nothing. Repairing calls of tools is in package repair.
//
// The package uses github.com/google/jsonschema-go for [AnswerSchema].
//
// Start with [Gate].
package done
