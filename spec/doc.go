// Package spec is the language in which a program declares its fire points. It consists of marker types, which hookgen
// reads in an interface; no program uses their values. This comment is the manual of the language. The manual of the
// command is hookgen -h.
//
// # A spec
//
// A spec is one Go file. An interface in it carries the directive //hookgen:points; its methods are the fire
// points of the program, in the order in which they fire:
//
//	// Package mail sends messages.
//	package mail
//
//	import "github.com/hookgen/hookgen/spec"
//
//	//go:generate go tool hookgen
//
//	// Points are the fire points.
//	//
//	//hookgen:points
//	type Points interface {
//		spec.Env[*Account] // every hook gets it as run.Env
//
//		// BeforeSend fires before a message is sent: hooks may change it, or refuse to send it.
//		BeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)
//
//		// OnSent fires after a message was sent.
//		OnSent(Message)
//	}
//
//	// Refuse keeps a message from being sent.
//	type Refuse struct{ Reason string }
//
// The parameter of a method is the payload, which every hook of the point receives. The results are the law: the
// decisions that hooks may return there, and the meaning of a failing hook. It is ordinary Go, so an editor completes,
// renames and navigates it. Nothing implements the interface.
//
// From it hookgen writes hooks_gen.go: for each point an interface that hooks implement, the outcomes that are legal
// there, and a registry that the program fires. The compiler then refuses a hook with another payload or a
// misspelled method at the line that adds it to its point. It refuses an outcome that the law does not list, and
// generated code that is older than its spec.
//
// hookgen parses the files of the package and checks no types, so that the other files need not compile. The types that
// points name must be declared in one of them that is not a test.
//
// # Laws
//
// A result list is read from left to right: how hooks run, which decisions they may return, and last the policy for
// failures.
//
//   - An empty list is the law called observe: every hook runs, and none can change or stop anything.
//   - [Replace] lets a hook return another payload. Such a point is a flow: hooks run in order, and each hook, and at
//     the end the program, sees the payload as the last replacement left it.
//   - [Edit] is a flow too, in which a hook returns another value for the one field of the payload that has the
//     type T. The rest of the payload cannot be changed. Edit and Replace may be combined.
//   - Exits, struct types declared in the spec file, let a hook short-circuit the point: the first exit ends the fire,
//     which returns it, and the remaining hooks do not run.
//   - [Vote], followed by exits, lets hooks vote for them. Every hook runs on the same payload. The exit listed first
//     is the strongest and wins; among equal exits the first in firing order. Vote excludes Replace and Edit. If
//     nobody votes, the fire returns no exit, also at a FailClosed point: the program must decide.
//   - [Collect] lets a hook contribute values, which are concatenated in firing order over the hooks that ran. It may
//     be the only result, or combined with any of the above.
//   - [Check] lets a hook refuse with an error. The first error ends the fire, which returns it. It is the only result.
//   - [CheckAll] is Check whose hooks all run. The fire returns their errors, joined in firing order. It is the only
//     result.
//   - [Around] lets a hook wrap an act that returns an R, as HTTP middleware wraps a handler. The first hook is the
//     outermost. It is the only result except for Reverse.
//   - [Reverse] mirrors the order, for the way back: last in, first out, and the inner layer before the outer.
//     It is written first.
//   - [FailClosed] and [FailOpen] are the policies for a hook that returns an error, panics or exceeds its timeout.
//     At a FailClosed point the failure ends the fire, and the program must refuse the act. At a FailOpen point it is
//     reported, and the next hook runs. The policy is written last. It is mandatory where hooks decide (Replace,
//     Edit, exits, Vote) and optional for Collect alone (default FailOpen). At observe, Check, CheckAll and Around
//     it would mean nothing, and is an error.
//
// # Judge after rewriting
//
// Suppose that a guard with a high priority refuses messages to strangers, and a hook after it expands an alias into an
// address. The guard judged the alias, but the program sends to the address. Where hooks rewrite and judge the same
// payload, declare two points and fire them in this order: a flow for rewriting, then a vote for judging:
//
//	BeforeSend(Message) (spec.Replace, spec.FailClosed)
//	MaySend(Message) (spec.Vote, Refuse, Allow, spec.FailClosed)
//
// # Firing
//
// The program fires a point and handles each result. For a point with exits, hookgen generates a function Match.
// It takes one function for each exit, and one for the case that every hook continued:
//
//	exit, by, err := hooks.BeforeSend.FireBy(ctx, run, &message)
//	if err != nil {
//		return err // a hook failed
//	}
//	return MatchBeforeSend(exit,
//		func() error { return send(message) },
//		func(r Refuse) error { return fmt.Errorf("refused by %s: %s", by.Hook, r.Reason) },
//	)
//
// An exit that is added to the spec later adds a parameter to MatchBeforeSend. Every call then fails to compile until
// it handles the new exit. A type switch on the exit compiles without it. Fire is FireBy without the hook that
// decided.
//
// The law gives the results of a hook and of the fire. FireBy adds a By after the exit or the result, and one By for
// each contribution or, at CheckAll, for each error. go doc NFunc shows the exact signature for a point N, go doc
// NPoint its methods.
//
//	law       a hook returns                 Fire takes                 Fire returns
//	observe   error                          payload                    nothing
//	flow      (NOutcome, error)              payload; its address       (exit, error); error without exits
//	                                         with Replace or Edit
//	vote      (NOutcome, error)              payload                    (exit, error)
//	Collect   ([]T, error)                   payload                    []T; ([]T, error) with FailClosed
//	Check     error                          payload                    error
//	CheckAll  error                          payload                    error
//	Around    (hookkit.Answer[R], error)     payload, act               (R, error)
//
// A hook that decides and collects returns (NOutcome, []T, error). An around hook has one more parameter, next NNext.
// An observer of the point receives NFired[P]. The interface of hooks is N[P]. Both are generic in the payload, so that
// compile errors name its type.
//
// # Payloads
//
// A payload is the one parameter of a point. It has any Go type: a struct, a type of another package, a generic type
// such as Envelope[Letter]. The parameter's name is kept in generated code. For several values declare a struct.
// Every hook receives a context and the run in addition.
//
// For Edit[T] the payload is a struct declared in the spec file, passed by value, with exactly one exported field of
// type T. If two fields have that type, give one of them a type of its own.
//
// Hooks receive a copy of the payload's value. But a map, a slice or a pointer in it still refers to the program's
// data, and the compiler cannot refuse a change there. Hooks must return a changed copy instead.
//
// # Exits
//
// An exit is an exported struct type declared in the spec file, legal at as many points as list it. All its fields
// are exported; it is not generic, has no methods, and appears in result lists only: no other type holds or embeds
// it, and it is nobody's payload. An exit belongs to the package that declares the point, so those of other packages
// cannot be listed.
//
// If an exit has a field Reason of type string, also in an embedded struct, then By, observers and tracers show it
// as the reason of the decision.
//
// Exits often share fields. An exit may embed an exported struct of its package, of another file too, if that struct
// has no methods, and neither have the structs that it embeds:
//
//	type Refuse struct{ Note }
//
//	type Later struct {
//		Note
//		After time.Duration
//	}
//
//	type Note struct{ Reason string }
//
// # Environment
//
// [Env] is embedded once, anywhere in the interface. It names the type of Run.Env, which every hook sees in addition
// to its payload. Without it the type is struct{}.
//
// # Groups and extensions
//
// An interface of the same file can be embedded to group points. In listings they appear where the group is embedded. A
// point that is embedded twice is reported at the second place.
//
// The Points of another generated package can be embedded to extend it:
//
//	//hookgen:points
//	type Points interface {
//		agent.Points // its points, registries and hooks, as they are
//
//		// BeforeDeploy is a point of our own.
//		BeforeDeploy(Release) (Hold, spec.FailClosed)
//	}
//
// The generated Hooks then has the parent's Hooks as a field named after its package (hooks.Agent). Hooks of the
// parent bind to that field unchanged, and Layer, Over, Trace, Explain and ObserveAny reach the points of both. The
// environment is the parent's. hookgen knows only the import path of that package, so the compiler reports names that
// clash with it.
//
// A spec can extend several packages, and needs no points of its own then. It cannot extend two packages that both
// extend a third one: a program would hold the registries of the third twice, and a hook bound to one of them would
// never fire in the other. Let one of the two packages extend the other instead. hookgen reports this where it finds
// the generated code of the packages without the go command: in the same module or workspace, in a directory that a
// replace line gives, or vendored.
//
// # Output
//
// By default hookgen writes hooks_gen.go next to the spec, in the same package. With -o DIR it writes
// DIR/hooks_gen.go, in a package named after DIR, so that spec and generated code are separate. That package exports
// everything that the spec's package exports, under the same names: types are aliases, constants are constants, and
// exits are types with the same fields. So everything that a point, an exit or a generic type mentions must be
// exported, and the spec cannot be package main. Functions and variables are not exported again. Give the two
// packages different names; otherwise every compile error spells out both import paths.
//
// The header of the generated file names the spec by its import path. hookgen does not overwrite a file that it
// generated from another spec.
//
// Doc comments of points, payloads and exits become the documentation of the generated names. A paragraph that
// begins with "Deprecated:" is repeated on every generated name that people write for it.
//
// # Imports
//
// An import path does not contain the package name. hookgen guesses it from the last element, the one before a
// version such as v2, gopkg.in/x.v3, go-x, x-go and x.go. Where it cannot guess, name the import. Dot imports are
// refused.
//
// # Names
//
// For a point N these names are kept free, whatever its law: N, NFunc, NOutcome, NExit, NObserver, NFired, NPoint,
// NNext, ReplaceN, EditN, ObserveN and MatchN; in every package Run, NewRun, Hooks, Hook and AnyObserver. No
// declaration and no import of the spec's package has one of them. No point is called Use, Layer, Over, Pinned, Trace,
// Points, Explain, ObserveAny, HandleFailures, Registered or Bind, which are methods.
//
// Generated code needs what Go declares itself, such as error, any, len and panic. A spec's package does not declare
// these names, and a spec imports nothing under one of them.
//
// # Directives
//
// A directive is a comment on a line of its own, directly above the interface or above a point:
//
//   - //hookgen:points, above the interface, marks the spec.
//   - //hookgen:wire, next to it, lets other processes speak the spec.
//   - //hookgen:local, above a point, keeps the payloads of the point in the process.
//   - //hookgen:ignore RULE REASON, above a point, accepts one finding of hookgen breaking at that point; above the
//     interface it accepts the finding for the whole spec.
//
// A directive that is misspelled or misplaced is an error with a suggestion; it is never ignored.
//
// # Rules
//
// hookgen reports all errors at once, sorted by position, as file:line:col: the problem: the remedy (rule).
// These are the rules:
//
//   - no-spec: a directory holds a spec
//   - size: a spec is not larger than 4 MB
//   - syntax: a spec parses
//   - union: a list has commas, no A | B
//   - build-constraint: a spec belongs to every build
//   - cgo: a spec is plain Go
//   - dot-import: a spec has no dot imports
//   - import-count: a spec imports at most 1000 packages
//   - qualifier: every qualifier names one import
//   - import-name: imports leave room for the names that are generated
//   - shadowed-name: the package declares no name that Go declares itself
//   - directive-form: a directive is written //hookgen:name, on a line of its own; ignore has a rule and a reason
//   - directive-name: the directives are points, wire, local, key and ignore
//   - directive-place: a directive is directly above the points interface or a point
//   - one-spec: a directory holds one spec
//   - points-interface: the points interface is exported, not generic and declared as such
//   - no-points: the points interface has a point
//   - embedding: the interface embeds spec.Env, interfaces of its file and Points of other packages
//   - embedding-cycle: no interface embeds itself
//   - duplicate-point: every point comes once
//   - env-once: spec.Env comes once
//   - env-parent: the environment of an extension is its parent's
//   - parent-once: a package is extended once
//   - point-name: the name of a point is exported
//   - payload-count: a point has one payload
//   - payload-variadic: a payload is not variadic
//   - payload-context: a point has no context parameter
//   - type-form: the types of a point are written with names and simple constants
//   - undefined-type: the types of a point are declared in its package
//   - type-arguments: a generic type has its type arguments
//   - type-size: a type of a point has at most 200 levels and 10000 parts
//   - type-lock: a type of a point has no lock that would be copied
//   - wire-type: a payload and an exit of a wire point have no field that JSON cannot hold
//   - unknown-marker: every spec.Name is a marker
//   - marker-type: a marker has the type argument that it takes
//   - marker-place: markers appear in result lists, spec.Env in the interface
//   - error-result: error is not listed
//   - payload-result: a payload is not listed
//   - repeated: nothing is listed twice
//   - order: a list begins with Vote and Reverse and ends with the policy
//   - check-alone: spec.Check is listed alone
//   - check-all-alone: spec.CheckAll is listed alone
//   - around-alone: spec.Around is listed alone, or with spec.Reverse
//   - vote-rewrites: spec.Vote is not combined with Replace or Edit
//   - vote-exits: spec.Vote has exits to vote on
//   - policy-missing: a point where hooks decide has a policy
//   - policy-meaningless: a point where hooks decide nothing has none
//   - policy-last: the policy is last
//   - policy-once: there is one policy
//   - key: a key is a field of the payload: a string, an integer, or an array or struct of them
//   - edit-payload: spec.Edit needs a payload that is a struct of the spec file
//   - edit-field: the payload has one exported field of the type of spec.Edit
//   - exit-package: an exit belongs to the package that declares the point
//   - exit-declared: an exit is declared in the spec file
//   - exit-struct: an exit is a defined struct type
//   - exit-exported: an exit is exported
//   - exit-name: an exit has no name that records and messages use for something else
//   - exit-generic: an exit is not generic
//   - exit-pointer: an exit is listed by value
//   - exit-methods: an exit has no methods
//   - exit-fields: the fields of an exit are exported
//   - exit-embeds: an exit embeds structs of its package that have no methods, and nothing else
//   - exit-held: no type holds an exit
//   - reserved-name: a point leaves the names of generated methods alone
//   - name-clash: names leave room for those that are generated
//   - main-package: a spec that another package imports is not package main
//   - output-exported: a generated package of its own names exported types only
package spec
