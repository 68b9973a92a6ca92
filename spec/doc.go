// Package spec is the language in which a program declares its fire points. It holds marker types and nothing
// else, and imports nothing. hookgen reads them where they stand in an interface; no code ever has a value of
// one. This comment is the manual of the language; that of the command is hookgen -h.
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
//		spec.Env[*Account] // what every hook sees beside its payload
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
// The parameter of a method is the payload: what hooks are shown. The results are the law: what a hook may decide
// there, and what it means when a hook fails. It is ordinary Go that an editor completes, renames and jumps in.
// Nothing implements the interface. From it hookgen writes hooks_gen.go: for each point an interface that hooks
// implement, the outcomes that are legal there, and a registry that the program fires. A hook with another
// payload, an outcome that the law does not list, a misspelt method, code that is older than its spec: each is an
// error of the compiler.
//
// hookgen parses the file and checks no types, so the files beside it need not compile.
//
// # Laws
//
// A result list is read from left to right: how hooks are run, what a hook may decide, and last what a failure
// means.
//
//   - Nothing is the law called observe: every hook runs, and none can change or stop anything.
//   - [Replace] lets a hook return another payload. This is a flow: hooks run in order, each sees the payload as
//     the last replacement left it, and so does the program.
//   - [Edit] is a flow too, in which a hook returns another value for the one field of the payload that has the
//     type T. The rest of the payload cannot be forged. It may stand beside Replace.
//   - Exits, struct types declared beside the points, let a hook leave with one of them: the first exit stops the
//     hooks behind it, and the program gets it.
//   - [Vote], and then exits, makes a ballot of them: every hook runs on the same payload, the exit listed first is
//     the strongest and wins, and among equal exits the first in order. No Replace or Edit stands beside it.
//   - [Collect] lets a hook contribute values, which are concatenated in firing order over the hooks that ran. It
//     stands alone, or beside any of the above.
//   - [Check] lets a hook refuse with an error: the first one stops and is returned. It stands alone.
//   - [Around] lets a hook wrap an act that returns an R: nested, the first hook outermost. It stands alone, or
//     with Reverse.
//   - [Reverse] turns the order round, for the way back: last in, first out, and the inner layer before the outer.
//     It stands first.
//   - [FailClosed] and [FailOpen] are the policies: what a failing hook means, whether by an error, a panic or a
//     time-out. A closed point ends the fire with the failure, and the program must refuse the act; an open one
//     reports the failure and runs the next hook. The policy stands last. It is mandatory where hooks decide
//     (Replace, Edit, exits, Vote), optional beside Collect alone (FailOpen), and an error at observe, Check and
//     Around, where it would mean nothing.
//
// # Judge after rewriting
//
// In a flow a guard with a high priority runs early, and sees the payload before the hooks behind it rewrite it: what
// it judged is not what is done. Where both happen, declare two points, a flow for rewriting and then a vote for
// judging, and fire them in that order:
//
//	BeforeSend(Message) (spec.Replace, spec.FailClosed)
//	MaySend(Message) (spec.Vote, Refuse, Allow, spec.FailClosed)
//
// # Payloads
//
// A payload is the one parameter of a point, of any Go type, named or not: a struct, a type of another package, a
// generic one such as Envelope[Letter]. Its name becomes that of the parameter in generated code. More than one
// thing to show means a struct. Every hook gets a context and the run anyway.
//
// For Edit[T] the payload is a struct declared in the spec file, taken by value, with exactly one exported field of
// type T. Give the field a type of its own where there would be two.
//
// # Exits
//
// An exit is an exported struct type declared in the spec file, legal at as many points as list it. All its fields
// are exported and have names; it is not generic, has no methods, and stands in result lists only: no other type
// holds or embeds it, and it is nobody's payload. An exit belongs to the package that declares the point, so those
// of other packages cannot be listed.
//
// # Environment
//
// [Env] is embedded, once and anywhere in the interface. It names the type of what every hook sees beside its
// payload, as Run.Env. Without it that is struct{}.
//
// # Groups and extensions
//
// An interface of the same file can be embedded to group points; they fire where the group is embedded, as far as
// the order of the declaration says anything. Points that come by two ways are reported at the second.
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
// The generated Hooks then has the parent's as a field named after its package (hooks.Agent), the parent's hooks bind
// to that unchanged, and Layer, Trace, Explain and ObserveAny reach the points of both. The environment is the
// parent's. Of that package hookgen knows the import path and nothing else; a name that clashes with one of the
// parent's is left to the compiler.
//
// # Output
//
// By default hooks_gen.go stands beside the spec, in its package. With -o DIR it is DIR/hooks_gen.go, in a package
// named after DIR, for those who keep specs and generated code apart. That package shows everything that the spec's
// package exports under the same names: types are aliases, constants are constants, and exits are types with the
// same fields. So everything that a point, an exit or a generic type mentions must then be exported, and the spec
// cannot be package main. Functions and variables stay where they are. Give the two packages different names, or
// every error of the compiler spells out both import paths.
//
// Doc comments travel: those of points, payloads and exits become the documentation of what is generated.
//
// # Imports
//
// A path does not say what its package is called. Where hookgen cannot tell (it knows the last element, the one
// before a version such as v2, gopkg.in/x.v3, go-x, x-go and x.go), name the import. Dot imports are refused.
//
// # Names
//
// For a point N these names are kept free, whatever its law: N, NFunc, NOutcome, NExit, NObserver, NFired, NPoint,
// NWhen, NNext, ReplaceN, EditN and ObserveN; in every package Run, NewRun, Hooks, Hook and AnyObserver. No point is
// called Use, Layer, Trace, Points, Explain, ObserveAny or Bind, which are methods.
//
// # Directives
//
// The directives are a closed set, and it has one member: //hookgen:points, on a line of its own, directly above the
// interface. One that is misspelt, misplaced or nearly right is an error with a suggestion, and never ignored.
//
// # Rules
//
// What hookgen finds is told all at once, in order of place, as file:line:col: what is wrong: what to do (rule).
// These are the rules:
//
//   - no-spec: a directory holds a spec
//   - size: a spec is not larger than 4 MB
//   - syntax: a spec parses
//   - build-constraint: a spec belongs to every build
//   - cgo: a spec is plain Go
//   - dot-import: what a spec imports has a qualifier
//   - qualifier: the import behind every qualifier can be told
//   - shadowed-name: the package declares no name that Go declares itself
//   - directive-form: a directive is written //hookgen:name, on a line of its own
//   - directive-name: the one directive is //hookgen:points
//   - directive-place: the directive stands directly above an interface
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
//   - unknown-marker: what is written spec.Name is a marker
//   - marker-type: a marker has the type argument that it takes
//   - marker-place: markers stand in result lists, spec.Env in the interface
//   - error-result: error is not listed
//   - payload-result: a payload is not listed
//   - union: a list has commas, no A | B
//   - repeated: nothing is listed twice
//   - order: a list reads how, what, and what a failure means
//   - check-alone: spec.Check stands alone
//   - around-alone: spec.Around stands alone but for spec.Reverse
//   - vote-rewrites: no Replace or Edit beside spec.Vote
//   - vote-exits: spec.Vote has exits to vote on
//   - policy-missing: a point where hooks decide has a policy
//   - policy-meaningless: a point where hooks decide nothing has none
//   - policy-last: the policy stands last
//   - policy-once: there is one policy
//   - edit-payload: spec.Edit needs a payload that is a struct of the spec file
//   - edit-field: the payload has one exported field of the type of spec.Edit
//   - exit-package: an exit belongs to the package that declares the point
//   - exit-declared: an exit is declared in the spec file
//   - exit-struct: an exit is a defined struct type
//   - exit-exported: an exit is exported
//   - exit-generic: an exit is not generic
//   - exit-pointer: an exit is listed by value
//   - exit-methods: an exit has no methods
//   - exit-fields: the fields of an exit are exported
//   - exit-embeds: an exit embeds nothing
//   - exit-held: no type holds an exit
//   - reserved-name: a point leaves the names of generated methods alone
//   - name-clash: names leave room for those that are generated
//   - main-package: a spec that another package imports is not package main
//   - output-exported: what a generated package of its own names is exported
package spec
