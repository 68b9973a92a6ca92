// Package wireexec carries the messages of package wire to other programs: hooks can be written in any language that
// reads standard input and writes standard output.
//
// [Command] starts the program for each request. The program reads one JSON object and writes one:
//
//	{"protocol":1,"spec":"example.com/mail","point":"BeforeSend","run":{"id":"6f0a..."},"payload":{"To":"you"}}
//	{"decision":"Refuse","value":{"Reason":"not to strangers"}}
//
// A status other than 0 is a failure, whatever the program wrote. [Process] starts the program once and sends one line
// for each request. The line also has an "id", and the reply must repeat it. Replies may come in any order. A Go
// program answers both with [ServeLines].
//
// A request {"describe":true} asks which points the program answers. The reply is a [wire.Description]. A program that
// does not understand it can still be used with the option [wire.Points].
//
// # Safety
//
// No shell reads the arguments, and no text of a payload is in them. The program gets a few variables of the
// environment, those of [Env], and no others. It runs in a process group of its own, which is killed at the time limit
// and after the program ends, so that children of the program end, too. Other systems than Unix have no such groups;
// there only the program itself is killed. Its output is bounded.
//
// A child can leave the group, for example with setsid. On Linux, a program that is killed takes all its descendants
// with it, also those that left the group. A daemon is not found: its parent has ended, so nothing says who started it.
// Only a container or a service manager can end daemons. A call returns at its limit even if a daemon holds the output
// of the program.
package wireexec
