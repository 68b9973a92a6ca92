// Package hookkit is the runtime of typed hooks, as people use it. It imports the standard library only. Generated code
// uses package hookimpl; nobody else needs that.
//
// Where to start:
//
//   - A loop author, who declares points and fires them: [Run], [By], and the generated Fire, FireBy and Match
//     functions.
//   - A hook author, who implements points and binds a hook to them: [Priority] and the other options, [PerRun],
//     [Answer].
//   - An operator, who registers hooks and finds out why one fired: [Registration], [Info], [Failure], [Tracer], and
//     the generated methods Use, Layer, Explain, Trace, HandleFailures and Registered.
//
// A hook runs during a fire and may decide it. An observer is notified once after the fire is decided, at a point of
// any law: it receives the payload, the decision and the failures, and cannot change them. Audit and metrics are
// observers. A [Tracer] also receives an event for each hook that ran.
//
// # Rules
//
// Each rule has a test file of its name in tests/runtime. The tests of rule 11 are in tests/compile, those of rule 12
// in package gen.
//
//  1. Order. A guard with Priority(Safety) fires before a hook with Priority(Mutation), whichever was registered
//     first. Hooks with the same [Priority] fire in order of registration. [Before] and [After] outrank priorities.
//     If they contradict each other, registration panics and names both places. At a point with the law Reverse the
//     whole order is mirrored.
//  2. Layers. A server adds guards to its Hooks and gives each tenant a layer on them. The guards fire before the
//     tenant's hooks, whatever the priorities (after them, under Reverse). A layer follows later changes of its
//     parent, and never changes it.
//  3. Replace. One hook expands an alias, and the next one sees the expanded address: each hook sees the payload as
//     the last replacement left it, and so does the program. An Edit changes its one field.
//  4. Short-circuit. When a guard returns an exit, no further hook of the point runs, and Fire returns the exit. Each
//     synchronous observer is still notified once, with the hook that decided.
//  5. Vote. One hook allows, another denies: every hook runs on the same payload, and the exit listed first in the
//     spec wins, whatever the order. Among equal exits, the first in firing order supplies the reason.
//  6. Collect. Contributions are concatenated in firing order, from every hook that ran without failing.
//  7. Around. The first hook is the outermost, as with HTTP middleware. The act runs as often as the innermost hook
//     calls next. A hook must return an answer or an error; returning neither is a failure. The fire returns the
//     result of the outermost hook.
//  8. State. Two agents run in parallel with one LoopDetector, and neither counts the other's calls: [PerRun] belongs
//     to one hook instance and one run.
//  9. Failure. A hook returns an error or an illegal outcome, panics or exceeds its [Timeout]: all are treated alike.
//     At a FailClosed point the fire ends with a [*Failure], and the program must refuse the act. At a FailOpen point
//     the failure is reported, and the next hook runs. At an around point an error goes to the next hook outward, and
//     the fire returns the result of the outermost hook. A failure of an observer never reaches the fire. If a hook
//     returns both an outcome and an error, the error counts. Every failure that the caller of Fire does not receive
//     goes to the failure handler of the Hooks. It logs with [log/slog] unless HandleFailures replaced it. Observers
//     and tracers do not silence it.
//  10. Snapshot. A hook may add hooks, remove itself or fire a point, without a deadlock. A fire uses the
//     registrations at its start, so that changes take effect in the next fire.
//  11. Compile time. The compiler refuses an outcome of another point, a payload of another type, and an option that
//     would mean nothing, for example [Async] in Add. Go's types cannot refuse an exit by pointer, a typed nil, or a
//     struct that embeds an exit. Each of those is a failure with [ErrIllegal], never "continue".
//  12. Generation. The generated code of an accepted spec compiles, is formatted, and is the same on every machine.
//     Code that is older than its spec, or newer than the runtime, does not compile.
//  13. Identity. The same hook registered twice is two registrations and is called twice. [Registration.Remove] undoes
//     one of them.
//  14. Attribution. A program logs which hook denied a call: FireBy returns it as a [By], and observers receive the
//     same in their [Verdict]. The zero By means that every hook continued.
//  18. Pinned. A request fires several points while an operator replaces the hooks. If it fires the Hooks that the
//     generated method Pinned returned, all its fires see the registrations of that moment. [Registration.Released]
//     says when no fire and no pinned Hooks can call a hook any more.
//  19. Replacing. An operator exchanges the configuration of a guard, which runs after its normaliser. The new guard
//     does too: [Replacing] keeps the position, and every Before and After that names the old registration.
//
// # Hooks that misbehave
//
// A hook that panics has failed, also with panic(nil). If a hook without a Timeout calls [runtime.Goexit], as testing's
// FailNow does, the goroutine of the fire ends and Fire does not return. The failure handler, observers and tracers are
// notified with [ErrGoexit]. With GODEBUG=panicnil=1 a panic(nil) looks the same and ends the fire, even at a FailOpen
// point.
//
// A hook that blocks also blocks the fire, unless it has a [Timeout]. With a Timeout it has failed when the time is up.
// It continues in its own goroutine, and its late answer is dropped. If it panics late, the failure handler is
// notified; the program does not crash.
//
// A hook that overflows its stack, or writes to a map that another goroutine uses, ends the program: Go does not let
// anybody recover from that.
//
// Cancelling a context that the hook derived affects only that hook. If a hook holds the cancel function of the fire's
// own context, every hook that checks the context sees a call of it. Fire does not: the remaining hooks still run, and
// their decisions count. A program that fires with a nil context fires with [context.Background].
//
// A hook that changes a map, a slice or a pointer inside the payload changes it for everybody who sees the payload.
// Return a changed copy instead. The compiler cannot refuse this; package hooktest finds it.
//
// A hook that fires its own point recurses, and must end the recursion itself.
//
// # Mistakes at registration
//
// Registration panics if it can already see that a hook will not work, so that the program fails at its start. The text
// names the file and line of the call. Examples are a nil hook, a Bind that registers nothing, and Before and After
// that contradict each other or name a registration of other Hooks. An option with an impossible argument, such as
// Timeout(0), panics where it is made. Firing the Hooks that Bind received panics too: they hold no other hook.
//
// # Cost
//
// A fire without registered hooks costs an atomic load; at an around point, a call as well. A fire takes no lock and
// allocates nothing while every hook continues; an around point allocates once per fire. Observers, tracers and
// Timeout cost only the fires of the points that have them.
package hookkit
