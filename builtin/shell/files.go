package shell

import (
	"path"
	"slices"
	"strings"
)

// A writtenFile is a file that the text writes before it runs something.
type writtenFile struct {
	by      []*Command // the commands whose output the file contains
	content string     // if the text contains it
}

// maxWriters is the most commands whose output a file is known to contain.
const maxWriters = 50

// writes records the files to which a command with a known position in a pipeline writes its output.
func (r *reader) writes(c *Command, in flow, output string) {
	targets := c.Writes
	switch {
	case c.Program == "tee":
		targets = append(slices.Clip(targets), c.Args...)
	case downloaders[c.Program]:
		targets = append(slices.Clip(targets), outputs(c)...)
		if c.Program == "wget" || hasOption(c.Args, "O", "--remote-name") {
			for _, arg := range c.Args {
				address, _, _ := strings.Cut(arg, "?")
				targets = append(targets, path.Base(address))
			}
		}
	}
	if r.strict || len(targets) == 0 || !r.spend(len(targets)+len(output)+len(in.before)) {
		return
	}
	for _, target := range targets {
		name := path.Clean(target)
		file := r.files[name]
		if len(file.by)+len(in.before) < maxWriters {
			file.by = slices.Concat(file.by, in.before, []*Command{c})
		}
		if file.content += output; len(file.content) > maxText || !r.spend(len(file.content)) {
			file.content = ""
		}
		r.files[name] = file
	}
}

// outputs returns the values of the options of curl, wget and sort that name the file to write.
func outputs(c *Command) []string { return valuesOf(c.Args, "oO", "--output", "--output-document") }

// valuesOf returns the values of options: of letters, which can follow others, and of long names.
func valuesOf(args []string, letters string, long ...string) (values []string) {
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case strings.HasPrefix(arg, "--"):
			if !slices.ContainsFunc(long, func(l string) bool { return len(name) > 3 && strings.HasPrefix(l, name) }) {
				continue
			}
		case len(arg) > 1 && arg[0] == '-' && strings.ContainsAny(arg, letters):
			value = arg[strings.IndexAny(arg, letters)+1:]
			joined = value != ""
		default:
			continue
		}
		if joined {
			values = append(values, value)
		} else {
			values = append(values, args[i+1:min(i+2, len(args))]...)
		}
	}
	return values
}

// runsFile reads a file that a command runs, if the text has written it. For example, "curl x > y; sh y" runs the
// output of curl. The file can also be a substitution such as <(curl x).
func (r *reader) runsFile(c *Command, file word) {
	c.executesOutput(file.outputs)
	if written, ok := r.files[path.Clean(file.text)]; ok {
		c.executesOutput(written.by)
		if shells[c.Program] || !interpreters[interpreterOf(c.Program)] {
			r.text(written.content)
		} else {
			r.code(c, written.content)
		}
	}
}
