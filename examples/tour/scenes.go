package main

import "errors"

// A scene is a part of the tour.
type scene struct {
	title string
	play  func(*stage) error
}

var scenes = []scene{
	{"a spec", writeTheSpec},
	{"the generated code", runHookgen},
	{"a hook", writeTheHook},
	{"wrong hooks do not compile", breakTheHook},
	{"firing it", fire},
	{"a new exit", addAnExit},
	{"a record", replayARecord},
	{"next steps", nextSteps},
}

func writeTheSpec(s *stage) error {
	s.say("Other packages want to extend a program that sends mail: with a limit, a signature, a junk filter.\n" +
		"Its author declares, in an ordinary Go interface, when hooks are called and which decisions they may return.")
	if err := s.add("mail/spec.go"); err != nil {
		return err
	}
	s.say("Each method is a fire point. Its parameter is the payload, and its results are the law of the point:\n" +
		"how its hooks run, which decisions are legal, and whether a failing hook stops the act.")
	return nil
}

func runHookgen(s *stage) error {
	s.say("hookgen reads that file and writes another one next to it.")
	if err := s.works("hookgen", "mail"); err != nil {
		return err
	}
	s.say("The new file has an interface for the hooks of each point ...")
	if err := s.works("go", "doc", "./mail.BeforeSend"); err != nil {
		return err
	}
	s.say("... and the registry that the program fires. FireBy also returns the hook that decided.")
	return s.works("go", "doc", "./mail.BeforeSendPoint.FireBy")
}

func writeTheHook(s *stage) error {
	s.say("Somebody else, in another package, writes a hook.")
	if err := s.add("limit/limit.go"); err != nil {
		return err
	}
	if err := s.works("go", "build", "./limit"); err != nil {
		return err
	}
	s.say("It compiles: the hook fits its point.")
	return nil
}

// mistakes are lines of the hook, each with a wrong version.
var mistakes = []struct{ says, right, wrong string }{
	{"A decision that is not legal at this point: Junk belongs to OnArrival.",
		"\t\treturn mail.Refuse{Reason: \"too long\"}, nil\n",
		"\t\treturn mail.Junk{Reason: \"too long\"}, nil\n"},
	{"A payload of the wrong type.",
		"func (l Limit) BeforeSend(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {\n",
		"func (l Limit) BeforeSend(ctx context.Context, run *mail.Run, m *mail.Message) (mail.BeforeSendOutcome, error) {\n"},
	{"A misspelled method. Hook systems that find methods by name never call it.",
		"func (l Limit) BeforeSend(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {\n",
		"func (l Limit) BeforeSent(ctx context.Context, run *mail.Run, m mail.Message) (mail.BeforeSendOutcome, error) {\n"},
	{"Replacing the payload where hooks may only watch.",
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
	s.say("These were the compiler's own words. With the original lines the hook compiles again.")
	return s.works("go", "build", "./limit")
}

func fire(s *stage) error {
	s.say("The program registers hooks, fires the point and handles each result.\n" +
		"MatchBeforeSend takes one function for every exit in the spec, and one for the case that no hook decided.")
	if err := s.add("main.go"); err != nil {
		return err
	}
	if err := s.works("go", "run", "."); err != nil {
		return err
	}
	s.say("After the blank line is the output of Explain for operators: every hook, in firing order,\n" +
		"and where it was registered.")
	return nil
}

func addAnExit(s *stage) error {
	s.say("Later, hooks shall also be able to make a message wait. The author adds an exit to the spec.")
	for _, e := range [][2]string{
		{"\tBeforeSend(Message) (spec.Replace, Refuse, spec.FailClosed)\n",
			"\tBeforeSend(Message) (spec.Replace, Refuse, Wait, spec.FailClosed)\n"},
		{"\tKeep   struct{}\n", "\tKeep   struct{}\n\tWait   struct{ Hours int }\n"},
	} {
		if err := s.edit("mail/spec.go", e[0], e[1]); err != nil {
			return err
		}
	}
	s.say("The generated code is now older than its spec. It does not compile, and the message names the remedy.")
	if err := s.fails("go", "build", "./mail"); err != nil {
		return err
	}
	s.say("So:")
	if err := s.works("hookgen", "mail"); err != nil {
		return err
	}
	s.say("The hook still compiles. The program does not: it would ignore a hook that returns Wait.")
	if err := s.fails("go", "build", "./..."); err != nil {
		return err
	}
	s.say("So the author handles the new exit ...")
	const refuse = "\t\t\treturn fmt.Errorf(\"refused by %s: %s\", by.Hook, r.Reason)\n\t\t},\n"
	const wait = "\t\tfunc(w mail.Wait) error {\n" +
		"\t\t\treturn fmt.Errorf(\"%s makes it wait for %d hours\", by.Hook, w.Hours)\n\t\t},\n"
	if err := s.edit("main.go", refuse, refuse+wait); err != nil {
		return err
	}
	s.say("... and the hook may return it.")
	const refuses = "\t\treturn mail.Refuse{Reason: \"too long\"}, nil\n"
	if err := s.edit("limit/limit.go", refuses, "\t\treturn mail.Wait{Hours: 8}, nil\n"); err != nil {
		return err
	}
	if err := s.works("go", "run", "."); err != nil {
		return err
	}
	s.say("The compiler led from the spec to every place that had to change.")
	return nil
}

func replayARecord(s *stage) error {
	s.say("A shorter limit may be better. Which messages would it have stopped? The program keeps a record, so that\n" +
		"this can be asked later. The spec gets a mark ...")
	if err := s.edit("mail/spec.go", "//hookgen:points\n", "//hookgen:points\n//hookgen:wire\n"); err != nil {
		return err
	}
	if err := s.works("hookgen", "mail"); err != nil {
		return err
	}
	s.say("... and the program an observer, which appends one line of JSON for each fire.")
	const registers = "\tvar hooks mail.Hooks\n"
	const records = "\trecord, err := wire.OpenLog(\"run.jsonl\")\n" +
		"\tif err != nil {\n\t\tfmt.Println(err)\n\t\treturn\n\t}\n" +
		"\tdefer record.Close()\n" +
		"\thooks.ObserveAny(mail.Record(record))\n"
	const imports = "\t\"example.com/tour/mail\"\n"
	const importsWire = "\t\"github.com/hookgen/hookgen/hookkit/wire\"\n"
	err := errors.Join(s.edit("main.go", imports, imports+importsWire), s.edit("main.go", registers, registers+records))
	if err != nil {
		return err
	}
	if err := s.works("go", "run", "."); err != nil {
		return err
	}
	s.say("hooklog shows the records of every spec.")
	if err := s.works("hooklog", "show", "run.jsonl"); err != nil {
		return err
	}
	s.say("A test replays the record. The same hooks decide the same:")
	if err := s.add("main_test.go"); err != nil {
		return err
	}
	if err := s.works("go", "test", "."); err != nil {
		return err
	}
	s.say("Now with the shorter limit:")
	if err := s.edit("main_test.go", "limit.Limit{Max: 20}", "limit.Limit{Max: 10}"); err != nil {
		return err
	}
	if err := s.fails("go", "test", "."); err != nil {
		return err
	}
	s.say("It would have stopped a message that was sent. Nothing was sent again to find that out.")
	return nil
}

func nextSteps(s *stage) error {
	s.say("Begin a module of your own:         go run github.com/hookgen/hookgen/cmd/hookgen@latest init mail\n" +
		"Extend the fire points of an agent: examples/quickstart\n" +
		"Read how specs are written:         go doc ./spec\n" +
		"Read how hooks and fires behave:    go doc ./hookkit\n" +
		"Read more about records:            docs/hooks/records.md")
	return nil
}
