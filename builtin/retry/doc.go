// Package retry keeps a run going while a model or a tool is overloaded, unreachable or slow.
//
// [Model] and [Tools] call again after a wait. [Fallback] asks another model, and [Router] serves several models by
// name. [Breaker] stops calling what keeps failing.
//
// Used together, they nest in a fixed order. Fallback is outermost. Model and Tools are inside it, and Breaker is
// innermost, so that each attempt counts and an open breaker ends the retries.
//
// An attempt is repeated only if [Temporary] reports that its error may go away. Hints for the model about failed calls
// belong in package repair, and bounds on the number of calls in package limit. The package imports packages limit and
// share, internal packages, and github.com/cenkalti/backoff/v5.
//
// Start with [Model].
package retry
