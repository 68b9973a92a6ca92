// Package answer decides whether an answer of the model is good enough to end the run.
//
// [Gate] checks conditions, for example that the tests ran after the last edit. [Critic] asks another model. Both
// reject an answer at CheckDone, a bounded number of times. [Eval] only grades finished runs and rejects nothing.
//
// Repairing single tool calls belongs in package repair. The package imports github.com/google/jsonschema-go for
// [AnswerSchema], package limit, and internal packages.
//
// Start with [Gate].
package answer
