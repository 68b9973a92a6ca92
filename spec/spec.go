package spec

// Env names the environment: the type of Run.Env, which every hook sees in addition to its payload. Embed it once in
// the points interface. Without it the environment is struct{}.
type Env[E any] interface{ hookgenEnv(E) }

// Replace lets a hook return another payload. The law is a flow: hooks run in order, and each gets the payload
// after the last replacement.
type Replace struct{ marker }

// Edit lets a hook return another value for the one field of the payload that has type T. The law is that of
// [Replace], and the rest of the payload cannot be changed.
type Edit[T any] struct {
	marker
	_ [0]func(T)
}

// Vote lets hooks vote for the exits that follow it. Every hook runs on the same payload. The exit listed first is the
// strongest and wins; among equal exits the first in firing order.
type Vote struct{ marker }

// Collect lets a hook contribute values of type T. They are concatenated in firing order over every hook that ran. It
// may be the only result, or combined with Replace, Edit, exits or Vote.
type Collect[T any] struct {
	marker
	_ [0]func(T)
}

// Check lets a hook refuse with an error. Hooks run in order; the fire stops at the first error and returns it.
type Check struct{ marker }

// CheckAll is [Check] whose hooks all run, so that a reload or a shutdown reports everything that is wrong at once. The
// fire returns their errors, joined in firing order by [errors.Join]; a panic and a timeout are errors too.
type CheckAll struct{ marker }

// Around lets a hook wrap an act that returns an R, like HTTP middleware. The first hook is the outermost.
type Around[R any] struct {
	marker
	_ [0]func(R)
}

// Reverse mirrors the firing order, for points after an act: last in, first out, and the inner layer before the
// outer.
type Reverse struct{ marker }

// FailClosed makes a failing hook (an error, a panic, a timeout) end the fire with that failure. The program must
// then refuse the act.
type FailClosed struct{ marker }

// FailOpen makes a failing hook only a report, and the next hook runs.
type FailOpen struct{ marker }

// marker keeps the markers from being converted into one another.
type marker struct{}
