package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/internal/progress"
	"github.com/hookgen/hookgen/internal/spelling"
	"github.com/hookgen/hookgen/internal/version"
)

// The exit codes.
const (
	fine     = 0
	findings = 1 // something is wrong with the spec or the output
	trouble  = 2 // wrong usage, or files that cannot be read or written
)

// An invocation is one run of the command, with its arguments and output streams.
type invocation struct {
	command        command
	dir            string
	out            string // of -o; "" if it was not given
	json           bool
	all            bool     // checkAll runs, which prints one line about all specs
	against        string   // of breaking
	github         bool     // print annotations
	forHooks       bool     // breaking compares for hooks
	hooks          []string // of -for: the packages
	stdout, stderr io.Writer
	line           *progress.Line
}

// run runs hookgen and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if version.Asked(args) {
		args = []string{"version"}
	}
	i := &invocation{stdout: stdout, stderr: stderr}
	switch err := i.parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, i.command.help())
		return fine
	case err != nil:
		fmt.Fprintf(stderr, "hookgen: %v\nhookgen -h shows how it is used\n", err)
		return trouble
	}
	i.line = progress.Start(stderr, "hookgen")
	defer i.line.Stop()
	i.stdout, i.stderr = i.line.Writer(stdout), i.line.Writer(stderr)
	i.line.Set(func() string { return "reading and writing in " + i.dir })
	return i.report(i.command.run(i))
}

// parse reads the arguments. Flags may come anywhere among them.
func (i *invocation) parse(args []string) error {
	flags := flag.NewFlagSet("hookgen", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&i.out, "o", "", "")
	flags.BoolVar(&i.json, "json", false, "")
	flags.StringVar(&i.against, "against", "", "")
	flags.BoolVar(&i.github, "github", false, "")
	flags.BoolVar(&i.forHooks, "for", false, "")
	var words []string
	err := flags.Parse(args)
	for ; err == nil && flags.NArg() > 0; err = flags.Parse(flags.Args()[1:]) {
		words = append(words, flags.Arg(0))
	}
	i.command = commands()[0]
	if len(words) > 0 {
		if c, ok := commandNamed(words[0]); ok {
			i.command, words = c, words[1:]
		}
	}
	switch {
	case err != nil:
		return err
	case i.command.name == "" && len(words) > 0 && words[0] == "help":
		return i.helpWith(words[1:])
	case i.command.name == "version" && (flags.NFlag() > 0 || len(words) > 0):
		return errors.New("version takes neither flags nor a directory")
	case i.command.name == "breaking" && i.against == "":
		return errors.New("breaking needs -against and a directory, a file, or git:REV: for example -against git:v1.0.0; " +
			"with -for, it needs a module and its version")
	}
	flags.Visit(func(f *flag.Flag) {
		if err == nil {
			err = i.command.refusal(f)
		}
	})
	switch {
	case err != nil:
		return err
	case i.json && i.github:
		return errors.New("-json and -github are two formats: choose one")
	case i.json && i.command.prints && i.out == "":
		return fmt.Errorf("-json prints findings where %s prints its output: give -o too", i.command.name)
	}
	if i.forHooks {
		if i.hooks = words; len(words) == 0 {
			return errors.New("-for needs the packages of your hooks: " +
				"for example hookgen breaking -for ./... -against MODULE@VERSION")
		}
		return nil
	}
	return i.setDir(words)
}

// helpWith asks for the help of the command that follows the word help, if one does.
func (i *invocation) helpWith(words []string) error {
	if len(words) > 0 {
		c, ok := commandNamed(words[0])
		if !ok {
			return fmt.Errorf("there is no command %s: choose one of %s", words[0], strings.Join(commandNames(), ", "))
		}
		i.command = c
	}
	return flag.ErrHelp
}

// setDir sets the directory from the arguments that are neither flags nor a command.
func (i *invocation) setDir(words []string) error {
	i.dir = "."
	if len(words) > 0 {
		i.dir = words[0]
	}
	meant := spelling.Suggest(i.dir, commandNames())
	command := i.command.name
	root, tree := strings.CutSuffix(i.dir, "...")
	tree = tree && command == "check"
	switch {
	case meant != "" && !exists(i.dir):
		return fmt.Errorf("%s is neither a directory nor a command: did you mean hookgen %s?", i.dir, meant)
	case len(words) > 1 && command == "" && !exists(i.dir):
		return fmt.Errorf("%s is neither a directory nor a command: hookgen DIR generates", i.dir)
	case len(words) > 1:
		return fmt.Errorf("%s: more than one directory: run hookgen once for each", strings.Join(words, " "))
	case i.dir == "":
		return errors.New("the directory is an empty string: leave it out for the current one")
	case tree && (i.out != "" || strings.Contains(root, "...") || root != "" && !strings.HasSuffix(root, "/")):
		return fmt.Errorf("%s: check takes DIR/... without -o, and reads the flags of the go:generate lines", i.dir)
	case tree || !strings.Contains(i.dir, "..."):
		return nil
	case command != "":
		return fmt.Errorf("%s: a pattern is not a directory: run hookgen %s once for each", i.dir, command)
	}
	return fmt.Errorf("%s: a pattern is not a directory: run hookgen once for each, or go generate %s", i.dir, i.dir)
}

// exists reports whether a file or directory exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// An exitCode ends a command that printed its findings.
type exitCode int

func (c exitCode) Error() string { return fmt.Sprintf("exit code %d", int(c)) }

// report prints an error, if there is one, and returns the exit code.
func (i *invocation) report(err error) int {
	var code exitCode
	var found gen.Diagnostics
	switch {
	case errors.As(err, &code):
		return int(code)
	case err == nil || errors.As(err, &found):
	case i.json:
		found = gen.Diagnostics{{Message: err.Error(), Rule: gen.RuleIO}}
	default:
		fmt.Fprintf(i.stderr, "hookgen: %v\n", err)
		return trouble
	}
	if i.json {
		if err := i.printJSON(found.JSON()); err != nil {
			fmt.Fprintf(i.stderr, "hookgen: %v\n", err)
			return trouble
		}
	} else if len(found) > 0 {
		fmt.Fprintln(i.stderr, found.Error())
	}
	switch {
	case found.Trouble():
		return trouble
	case len(found) > 0:
		return findings
	}
	return fine
}

// printJSON prints the result of an encoder.
func (i *invocation) printJSON(text []byte, err error) error {
	if err == nil {
		_, err = i.stdout.Write(text)
	}
	return err
}

// say prints one line of progress. With -json it prints to standard error, because standard output is for diagnostics.
func (i *invocation) say(format string, args ...any) {
	w := i.stdout
	if i.json {
		w = i.stderr
	}
	fmt.Fprintf(w, format+"\n", args...)
}
