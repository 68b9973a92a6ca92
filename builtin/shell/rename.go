package shell

import (
	"slices"
	"strings"
)

// renames notes that later commands can run a program under another name, for example after cp /bin/rm x.
func (r *reader) renames(c *Command) {
	switch c.Program {
	case "alias":
		for _, arg := range c.Args {
			if name, value, ok := strings.Cut(arg, "="); ok {
				r.names[strings.ToLower(name)] = strings.Fields(value)
			}
		}
	case "cp", "ln", "mv", "install", "hash":
		args := slices.DeleteFunc(slices.Clone(c.Args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
		if len(args) == 2 && dangerous[programOf(args[0])] {
			r.names[programOf(args[1])] = args[:1]
		}
	}
}

// renamed reads a command under the name that a program had before.
func (r *reader) renamed(c *Command, in flow) {
	if to := r.names[c.Program]; len(to) > 0 {
		delete(r.names, c.Program) // an alias does not contain itself
		r.command(slices.Concat(staticWords(to), c.words[1:]), in)
		r.names[c.Program] = to
	}
	if body := r.functions[c.Program]; body != nil && len(c.Args) > 0 {
		delete(r.functions, c.Program)
		lists := [2][]string{r.lists["@"], r.lists["*"]}
		r.lists["@"], r.lists["*"] = c.Args, c.Args
		r.stmt(body, in)
		r.lists["@"], r.lists["*"] = lists[0], lists[1]
		r.functions[c.Program] = body
	}
}
