package main

import "errors"

// A scene is a part of the tour.
type scene struct {
	title string
	play  func(*stage) error
}

var scenes = []scene{
	{"a spec", writeTheSpec},
	{"what hookgen makes of it", runHookgen},
	{"a hook", writeTheHook},
	{"wrong hooks do not compile", breakTheHook},
	{"firing it", fire},
	{"when the spec changes", changeTheSpec},
	{"what next", goOn},
}

func writeTheSpec(s *stage) error {
	s.say("A program that sends mail wants to be extended: by a limit, a signature, a junk filter.\n" +
		"So its author writes down, as an ordinary Go interface, when hooks are asked and what they may decide.")
	if err := s.add("mail/spec.go"); err != nil {
		return err
	}
	s.say("Each method is a fire point. Its parameter is the payload, its results are the law of the point:\n" +
		"how hooks decide there, what they can decide, and what a failing hook means.")
	return nil
}

func runHookgen(s *stage) error {
	s.say("hookgen reads that file and writes another one beside it.")
	if err := s.works("hookgen", "mail"); err != nil {
		return err
	}
	s.say("In it is an interface for the hooks of each point ...")
	if err := s.works("go", "doc", "./mail.BeforeSend"); err != nil {
		return err
	}
	s.say("... and the registry that the program fires.")
	return s.works("go", "doc", "./mail.BeforeSendPoint.Fire")
}

func writeTheHook(s *stage) error {
	s.say("Somebody else, in another package, writes a hook.")
	if err := s.add("limit/limit.go"); err != nil {
		return err
	}
	if err := s.works("go", "build", "./limit"); err != nil {
		return err
	}
	s.say("It compiles, so it fits.")
	return nil
}

// mistakes are lines of the hook and what is wrong with them.
var mistakes = []struct{ says, right, wrong string }{
	{"A decision that is not legal at this point: Junk belongs to OnArrival.",
		"\t\treturn mail.Refuse{Reason: \"too long\"}, nil\n",
		"\t\treturn mail.Junk{Reason: \"too long\"}, nil\n"},
	{"A payload of the wrong type.",
		"func (l Limit) BeforeSend(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {\n",
		"func (l Limit) BeforeSend(ctx context.Context, run *mail.Run, m *mail.Message) (mail.BeforeSendOutcome, error) {\n"},
	{"A misspelt method, which elsewhere would be registered and never run.",
		"func (l Limit) BeforeSend(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {\n",
		"func (l Limit) BeforeSent(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {\n"},
	{"A change of the payload where hooks may only watch.",
		"\treturn nil, nil\n",
		"\treturn mail.ReplaceOnSent(m, \"no change\"), nil\n"},
}

func breakTheHook(s *stage) error {
	for _, m := range mistakes {
		s.say("%s", m.says)
		if err := s.edit("limit/limit.go", m.right, m.wrong); err != nil {
			return err
		}
		err := errors.Join(s.fails("go", "build", "./limit"), s.replace("limit/limit.go", m.wrong, m.right))
		if err != nil {
			return err
		}
	}
	s.say("Those were the compiler's own words. The hook is as it was again.")
	return s.works("go", "build", "./limit")
}

func fire(s *stage) error {
	s.say("The program: it takes hooks, fires the point, and does what came of it.")
	if err := s.add("main.go"); err != nil {
		return err
	}
	if err := s.works("go", "run", "."); err != nil {
		return err
	}
	s.say("Below the blank line is what Explain shows an operator: every hook, in order, and where it was added.")
	return nil
}

func changeTheSpec(s *stage) error {
	s.say("Now long messages shall wait instead of being refused. The author edits the spec.")
	for _, e := range [][2]string{
		{"\tBeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)\n", "\tBeforeSend(Message) (spec.Replace, Wait, spec.FailClosed)\n"},
		{"\tRefuse struct{ Reason string }\n", "\tWait   struct{ Hours int }\n"},
	} {
		if err := s.edit("mail/spec.go", e[0], e[1]); err != nil {
			return err
		}
	}
	s.say("The generated code is older than its spec now. That does not build, and the message says what to do.")
	if err := s.fails("go", "build", "./mail"); err != nil {
		return err
	}
	s.say("So:")
	if err := s.works("hookgen", "mail"); err != nil {
		return err
	}
	s.say("The package builds again. The hook does not: it still refuses.")
	if err := s.fails("go", "build", "./..."); err != nil {
		return err
	}
	if err := s.edit("limit/limit.go", "\t\treturn mail.Refuse{Reason: \"too long\"}, nil\n", "\t\treturn mail.Wait{Hours: 8}, nil\n"); err != nil {
		return err
	}
	s.say("And the program is told that there is something new to do.")
	if err := s.fails("go", "build", "./..."); err != nil {
		return err
	}
	if err := s.edit("main.go",
		"\tcase mail.Refuse:\n\t\tfmt.Printf(\"not sent: %s (%s)\\n\", m.Text, exit.Reason)\n",
		"\tcase mail.Wait:\n\t\tfmt.Printf(\"waits %dh: %s\\n\", exit.Hours, m.Text)\n"); err != nil {
		return err
	}
	if err := s.works("go", "run", "."); err != nil {
		return err
	}
	s.say("The compiler led from the spec to every place that had to follow.")
	return nil
}

func goOn(s *stage) error {
	s.say("Begin a module of your own:         go run github.com/hookgen/hookgen/cmd/hookgen@latest init mail\n" +
		"Extend the fire points of an agent: examples/quickstart\n" +
		"Read how specs are written:         go doc ./spec")
	return nil
}
