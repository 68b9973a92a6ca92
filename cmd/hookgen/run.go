package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
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
	command        string // "" or one of commands
	dir            string
	out            string // of -o; "" if it was not given
	fresh          string // of -check; "" if it was not given
	json           bool
	all            bool   // check every spec below dir
	against        string // of breaking
	github         bool   // print annotations
	stdout, stderr io.Writer
	line           *progress.Line
}

// commands are the arguments that are not read as a directory.
var commands = []string{"breaking", "check", "doc", "export", "init", "version"}

// run runs hookgen and returns its exit code.
func run(args []string, stdout, stderr io.Writer) int {
	if version.Asked(args) {
		args = []string{"version"}
	}
	i := &invocation{stdout: stdout, stderr: stderr}
	switch err := i.parse(args); {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(stdout, helpOn(i.command))
		return fine
	case err != nil:
		fmt.Fprintf(stderr, "hookgen: %v\nhookgen -h shows how it is used\n", err)
		return trouble
	}
	i.line = progress.Start(stderr, "hookgen")
	defer i.line.Stop()
	i.stdout, i.stderr = i.line.Writer(stdout), i.line.Writer(stderr)
	i.line.Set(func() string { return "reading and writing in " + i.dir })
	var err error
	switch i.command {
	case "breaking":
		return i.breaking()
	case "check":
		err = i.check()
	case "doc":
		err = i.doc()
	case "export":
		err = i.export()
	case "init":
		err = i.initialize()
	case "version":
		fmt.Fprint(i.stdout, version.Text("hookgen"))
	default:
		err = i.generate()
	}
	return i.report(err)
}

// parse reads the arguments. Flags may come anywhere among them.
func (i *invocation) parse(args []string) error {
	flags := flag.NewFlagSet("hookgen", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&i.out, "o", "", "")
	flags.BoolVar(&i.json, "json", false, "")
	flags.StringVar(&i.against, "against", "", "")
	flags.BoolVar(&i.github, "github", false, "")
	flags.StringVar(&i.fresh, "check", "", "")
	var words []string
	for {
		if err := flags.Parse(args); err != nil {
			if len(words) > 0 && slices.Contains(commands, words[0]) {
				i.command = words[0]
			}
			return err
		}
		if args = flags.Args(); len(args) == 0 {
			break
		}
		words, args = append(words, args[0]), args[1:]
	}
	if len(words) > 0 && slices.Contains(commands, words[0]) {
		i.command, words = words[0], words[1:]
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case i.command == "" && len(words) > 0 && words[0] == "help":
		return i.helpWith(words[1:])
	case i.command == "version" && (len(given) > 0 || len(words) > 0):
		return errors.New("version takes neither flags nor a directory")
	case i.command != "breaking" && (given["against"] || given["github"]):
		return errors.New("-against and -github are flags of hookgen breaking")
	case i.command == "breaking" && i.against == "":
		return errors.New("breaking needs -against and a directory, a file, or git:REV: for example -against git:v1.0.0")
	case i.command == "breaking" && given["o"]:
		return errors.New("-o cannot be given to breaking, which reads the go:generate lines")
	case i.json && i.github:
		return errors.New("-json and -github are two formats: choose one")
	case len(words) > 1 && i.command == "" && !exists(words[0]):
		return unknownWord(words[0])
	case len(words) > 1:
		return fmt.Errorf("%s: more than one directory: run hookgen once for each", strings.Join(words, " "))
	case i.checkDocumentFlags(given) != nil:
		return i.checkDocumentFlags(given)
	case given["o"] && i.out == "":
		return errors.New("-o needs a directory")
	case given["o"] && i.command == "init":
		return errors.New("-o cannot be given to init, which generates next to the spec: move the code later")
	}
	i.dir = "."
	if len(words) == 1 {
		i.dir = words[0]
	}
	if spelling.Suggest(i.dir, commands) != "" && !exists(i.dir) {
		return unknownWord(i.dir)
	}
	switch {
	case i.dir == "":
		return errors.New("the directory is an empty string: leave it out for the current one")
	case i.command == "check" && strings.HasSuffix(i.dir, "...") && (given["o"] || !wholeTree(i.dir)):
		return fmt.Errorf("%s: check takes DIR/... without -o, and reads the flags of the go:generate lines", i.dir)
	case i.command == "check" && strings.HasSuffix(i.dir, "..."):
		i.all = true
	case strings.Contains(i.dir, "...") && i.command != "":
		return fmt.Errorf("%s: a pattern is not a directory: run hookgen %s once for each", i.dir, i.command)
	case strings.Contains(i.dir, "..."):
		return fmt.Errorf("%s: a pattern is not a directory: run hookgen once for each, or go generate %s", i.dir, i.dir)
	}
	return nil
}

// helpWith asks for the help of the command that follows the word help, if one does.
func (i *invocation) helpWith(words []string) error {
	if len(words) == 0 {
		return flag.ErrHelp
	}
	if !slices.Contains(commands, words[0]) {
		return fmt.Errorf("there is no command %s: choose one of %s", words[0], strings.Join(commands, ", "))
	}
	i.command = words[0]
	return flag.ErrHelp
}

// unknownWord is the error for a first word that is neither a command nor a directory.
func unknownWord(word string) error {
	if meant := spelling.Suggest(word, commands); meant != "" {
		return fmt.Errorf("%s is neither a directory nor a command: did you mean hookgen %s?", word, meant)
	}
	return fmt.Errorf("%s is neither a directory nor a command: hookgen DIR generates", word)
}

// wholeTree reports whether a pattern is a directory and those below it.
func wholeTree(pattern string) bool {
	root := strings.TrimSuffix(pattern, "...")
	return !strings.Contains(root, "...") && (root == "" || strings.HasSuffix(root, "/"))
}

// exists reports whether a file or directory exists.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// report prints an error, if there is one, and returns the exit code.
func (i *invocation) report(err error) int {
	var found gen.Diagnostics
	if err != nil && !errors.As(err, &found) {
		if !i.json {
			fmt.Fprintf(i.stderr, "hookgen: %v\n", err)
			return trouble
		}
		found = gen.Diagnostics{{Message: err.Error(), Rule: gen.RuleIO}}
	}
	if i.json {
		text, err := found.JSON()
		if err == nil {
			_, err = i.stdout.Write(text)
		}
		if err != nil {
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

// say prints one line of progress. With -json it prints to standard error, because standard output is for diagnostics.
func (i *invocation) say(format string, args ...any) {
	w := i.stdout
	if i.json {
		w = i.stderr
	}
	fmt.Fprintf(w, format+"\n", args...)
}
