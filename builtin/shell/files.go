package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// A writtenFile is a file that the text writes before it runs something.
type writtenFile struct {
	by      []*Command // the commands whose output the file contains
	content string     // if the text contains it
}

// writes records the files to which a command with a known position in a pipeline writes its output.
func (r *reader) writes(c *Command, in flow, output string) {
	if r.strict {
		return
	}
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
	if len(targets) == 0 || !r.spend(len(targets)+len(output)+len(in.before)) {
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
func outputs(c *Command) []string {
	return wrapper{script: []string{"-o", "-O", "--output", "--output-document"}}.scripts(c.Args, c.Args)
}

// maxWriters is the most commands whose output a file is known to contain.
const maxWriters = 50

// runsFile reads a file that a command runs, if the text has written it. For example, "curl x > y; sh y" runs the
// output of curl. The file can also be a substitution such as <(echo ls).
func (r *reader) runsFile(c *Command, file word, isShell bool) {
	content, by := file.content, file.outputs
	if written, ok := r.files[path.Clean(file.text)]; ok {
		content, by = written.content, written.by
	}
	c.executesOutput(by)
	switch {
	case content == "":
	case isShell:
		r.text(content)
	default:
		r.foreign(content)
	}
}

// executingOption matches options of many programs whose value is a command, for example tar --to-command=x and ssh -o
// ProxyCommand=x.
var executingOption = regexp.MustCompile(
	`^(?:--?[a-z-]*(?:exec|command|program|rsh|pager|eval)|(?i:ProxyCommand|LocalCommand|KnownHostsCommand)|` +
		`--checkpoint-action=exec)=(.+)$`)

// options reads the commands in the options of a program that is not known to run commands.
func (r *reader) options(c *Command) {
	for _, arg := range c.Args {
		if m := executingOption.FindStringSubmatch(arg); m != nil {
			r.text(strings.TrimPrefix(m[1], "exec="))
		}
	}
}
