// Package hookvet finds mistakes in programs with hooks that compile: a hook that is never called, a decision that is
// ignored, a change that is lost.
//
// Command hookvet runs its analyzers, alone or from go vet; package contrib/golangci adds them to golangci-lint. The
// page docs/hooks/hookvet.md shows a wrong and a right program for each.
//
// Start with [Analyzers]. Each check has a file of its name. They share these files:
//
//   - point.go reads the fire points of generated packages from their types;
//   - code.go finds the hooks, fires and registrations of a package once for all checks;
//   - graph.go answers which statements may run after others;
//   - sources.go knows what is assigned to each variable;
//   - variable.go answers whether a variable is read afterwards;
//   - reach.go finds the values that come from a parameter;
//   - standard.txt lists the functions and methods of the standard library that change such a value;
//   - expr.go and func.go have questions about one expression and one function;
//   - report.go reports findings, unless a comment that ignore.go reads suppresses them.
//
// A check reports only certain mistakes, and is silent where it cannot know.
//
// # Analyzer unbound
//
// unbound: find methods of hooks that Bind does not add
//
// A type with a method Bind(*Hooks) has a method that is named like a point, or one letter away from it, and takes the
// run, the payload or returns the outcome of that point. If Bind does not add the value to the point, the method never
// runs, and nothing reports it.
//
// The check is silent if the package calls the method itself, or if Bind passes the Hooks and the hook to code that the
// check cannot see.
//
// # Analyzer boundtwice
//
// boundtwice: find hooks that one Bind adds twice to the same point
//
// Each Add is a registration of its own, so the hook runs twice in every fire: it counts twice and collects twice. The
// check compares calls that can both run; an Add in each branch of an if is fine. It is silent if Bind assigns the hook
// a second time, or removes a registration.
//
// # Analyzer options
//
// options: find options for keys at points without the key
//
// The registration panics, also if the option narrows a bundle with such a point. The check sees the bundles of the
// package.
//
// # Analyzer exitvalue
//
// exitvalue: find exits that are returned by pointer or inside another struct
//
// The decisions of a point are a sealed set, but Go lets a pointer to an exit and a struct that embeds one implement
// its interface too. The fire treats both, and a nil pointer, as a failure of the hook.
//
// # Analyzer lostchange
//
// lostchange: find changes of a hook's payload that nobody sees
//
// A hook receives a copy of the payload. If it assigns to the parameter, to a field of it or of another copy, and then
// does not read that field again, for example because it returns nil, the change is lost. Where hooks may change the
// payload, they return it with the generated Replace or Edit function. A call of such a function whose outcome is
// dropped changes nothing either.
//
// # Analyzer sharedpayload
//
// sharedpayload: find hooks that change their payload in place
//
// A payload is passed by value, but a map, a slice or a pointer in it is shared: a change through it is seen by the
// program, by other hooks and by observers, whatever the law of the point and whatever they decide. Clone it, change
// the clone, and return a payload with it.
//
// The check follows local variables and functions of the package, and knows the functions and methods of the standard
// library that change their receiver or an argument, for example Set of an http.Header.
//
// # Analyzer keptpayload
//
// keptpayload: find hooks that keep values of others after the call
//
// The maps, slices and pointers of a payload belong to the program, which may change them after the fire. The next of
// an around hook is valid until the hook returns, and a run is freed when the program is done with it. A hook that
// stores one of them in a field, a package variable or a channel, or uses it in a goroutine that it does not wait for,
// needs a clone of the payload, and the ID of the run.
//
// State in a hookkit.PerRun may hold parts of payloads, and a map of runs is fine if the package also deletes from it.
// The check looks at the statements of the hook itself, not at functions that it calls. It is silent about goroutines
// and channels if the hook waits for anything. Test files are not checked.
//
// # Analyzer hookstate
//
// hookstate: find hooks that write their fields or package variables without a lock
//
// One value of a hook serves all runs of a program, also in parallel. A counter in a plain field mixes the runs and
// loses updates. State of a run belongs into a hookkit.PerRun; state of all runs needs a lock or package sync/atomic.
// The same holds for the variables that a function captures, if it is registered on Hooks that its caller was given.
//
// The check follows calls of functions of the package. A write counts as locked if something before it can wait for
// others: a call with the word Lock or Acquire in its name, or of a function of the package that has such a call, the
// result of an atomic operation, or a send or a receive of a channel. It no longer counts after the Unlock. Test files
// are not checked.
//
// # Analyzer perrun
//
// perrun: find fires, and uses of the same PerRun, inside PerRun.Do
//
// Do holds the lock of one run while it calls its function. A Do or Load of the same PerRun and run inside waits for
// that lock for ever. A fire of the run inside does so as soon as a hook of the point uses the same state.
//
// Another run, for example a child, has a lock of its own. The check compares the expressions of the runs, and looks at
// the function of Do alone.
//
// # Analyzer noanswer
//
// noanswer: find paths of an around hook that return no answer
//
// A hook of an around point returns the answer of next.Call, or makes one with hookkit.Answered. A zero Answer without
// an error is a failure of the hook, even if the act ran.
//
// # Analyzer unfired
//
// unfired: find declared points that a program never fires
//
// A hook of a point that nothing fires is registered and never runs. The check knows what the packages that a program
// imports fire, and reports in package main: at the package clause, the points that no package of the program fires.
//
// It looks only at programs that have Hooks and fire some of their points. All points of Hooks count as fired if
// something calls their method Points, because they can be fired through it, or passes them to a function of the
// generated package. Fires in test files do not count. For a library, whose points others fire, use
// hooktest.EveryPointFired.
//
// # Analyzer fireresult
//
// fireresult: find fires whose decision, contributions or error are dropped
//
// An exit is a decision of a hook, and an error says that a guard failed: the program must refuse the act. A program
// that drops either continues as if no hook had spoken. Who decided, and the result of an around point, may be dropped.
// A variable that is used only in _ = x is dropped too.
//
// Test files are not checked.
//
// # Analyzer missedexit
//
// missedexit: find type switches and assertions that miss an exit
//
// A program tells the exits of a fire apart by their types. One that it misses is a decision without an effect; a
// default case does not count, because it also swallows the exits that the spec gains later. The generated Match
// function does not compile until every exit is handled.
//
// The check follows the exits of a fire in the function of the fire, and into a function of the package if the program
// only passes them to that one. A function that returns only a bool is a question about one exit, and may be one of
// several. Test files are not checked.
//
// # Analyzer exitcase
//
// exitcase: find cases for a pointer to an exit
//
// A fire returns exits by value. A case *mail.Refuse compiles, because a pointer has the methods of the value, and
// never matches.
//
// # Analyzer firecopy
//
// firecopy: find fires whose replacements nobody reads
//
// At a point with Replace or Edit, Fire takes a pointer, and hooks change what it points to. If that is a copy that the
// program does not read after the fire, the changes are lost.
//
// Test files are not checked.
//
// # Analyzer runperfire
//
// runperfire: find fires that make a run of their own
//
// Hooks keep their state in the run. If each fire of a unit of work has a new one, limits never count beyond one, and
// records do not belong together. The check looks at fires with a call of NewRun, or with a variable that holds one. It
// reports a fire
//
//   - if NewRun is among its arguments, and another run is at hand in a parameter or a variable. It is silent in
//     another goroutine, and if NewRun gets an environment of its own, because each may be another unit of work;
//   - if another fire of the function on the same Hooks has a run with the same environment. It is silent if both fires
//     are of one point, or both runs have names, and the payloads differ, because each may be a unit of work.
//
// Test files are not checked.
//
// # Analyzer outerhooks
//
// outerhooks: find fires of Hooks that leave out a layer
//
// A layer fires the hooks of its parent and then its own. A program that makes a layer and fires the parent, or that
// has Hooks in a parameter or in its receiver and fires those of a package variable, leaves out hooks that somebody
// registered.
//
// The check reports only Hooks that the function does not fire, pass on or store otherwise. Test files are not checked.
package hookvet
