package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/kit"
)

// assign notes that the current command assigns a text to the variable before an equals sign.
func (f *foreign) assign() {
	f.target = ""
	compares := strings.HasPrefix(f.text[f.at:], "=") || f.at > 1 && strings.IndexByte("=!<>", f.text[f.at-2]) >= 0
	if n := len(f.words); n > 0 && len(f.open) == 0 && !compares {
		f.target = f.words[n-1].text
		delete(f.values, f.target)
	}
}

// objectOf returns the path whose method is called: that of a variable, as in p.unlink, or that of the parenthesis
// before, as in Path('x').unlink. It returns "" if there is none.
func (f *foreign) objectOf(call string) string {
	object, _, ok := cutLast(call, ".")
	if ok && object == "" {
		return f.result
	}
	return f.joined(f.values[object])
}

// joined returns the path that consists of some parts.
func (f *foreign) joined(parts []string) string {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if !f.r.spend(size) {
		return ""
	}
	return strings.Join(parts, "/")
}

// returnsPath reports whether the parenthesis is a group of texts, or a call that returns the path that they form.
func (p parenthesis) returnsPath() bool {
	_, name, _ := cutLast("."+strings.ToLower(p.call), ".")
	return p.call == "" || returningPath[name]
}

// returnPath notes the path that a closed parenthesis contains or returns.
func (f *foreign) returnPath(p parenthesis) {
	f.result = ""
	if !p.returnsPath() {
		return
	}
	parts := p.args
	if call := strings.ToLower(p.call); strings.HasSuffix(call, "home") || strings.HasSuffix(call, "homedir") {
		parts = []string{"~"}
	}
	if p.object != "" {
		parts = slices.Concat([]string{p.object}, parts)
	}
	if f.result = f.joined(parts); f.result != "" && len(f.open) > 0 {
		top := &f.open[len(f.open)-1]
		top.args = append(top.args, f.result)
	}
}

// changesFile reads a call of another language that changes a file, for example Path('x').write_text('y'), as the
// command that does the same. It reports whether the call is one.
func (r *reader) changesFile(call string, p parenthesis) bool {
	args := p.args
	if p.object != "" {
		args = slices.Concat([]string{p.object}, args)
	}
	names := strings.FieldsFunc(strings.ToLower(call), func(c rune) bool { return strings.ContainsRune(".:>=[-", c) })
	if len(args) == 0 || len(names) == 0 {
		return false
	}
	name := names[len(names)-1]
	qualified := strings.Join(names[max(0, len(names)-2):], ".")
	switch {
	case opening[name] && len(args) > 1 && writing.MatchString(args[1]), writingFile[name] || writingFile[qualified]:
		r.found = append(r.found, &Command{Writes: args[:1:1], dirs: r.dirs})
		if len(args) > 1 && !opening[name] {
			r.files[path.Clean(args[0])] = writtenFile{content: args[1]}
		}
	case removingFile[name] || removingFile[qualified]:
		r.command(staticWords([]string{"unlink", args[0]}), flow{})
	case len(args) > 1 && (moving[name] || moving[qualified]):
		r.command(staticWords([]string{"mv", args[0], args[1]}), flow{})
	case len(args) > 1 && copying[name]:
		r.command(staticWords([]string{"cp", args[0], args[1]}), flow{})
	default:
		return false
	}
	return true
}

var (
	// opening are the names of functions that open a file, and writing matches a mode in which they write.
	opening = kit.Set("open", "fopen", "opensync")
	writing = regexp.MustCompile(`^[rbt]*[wax+][rbt+]*(?::|$)`)

	// writingFile are the names of functions that write the file that their first argument or their object names.
	writingFile = kit.Set("writefile", "writefilesync", "appendfile", "appendfilesync", "file_put_contents",
		"createwritestream", "truncate", "truncatesync", "write_text", "write_bytes", "touch", "symlink_to",
		"writetextfile", "writetextfilesync", "outputfile", "outputfilesync", "binwrite", "file.write", "io.write",
		"bun.write")

	// removingFile are the names of functions that remove the file that their first argument or their object names.
	removingFile = kit.Set("unlink", "unlinksync", "os.remove", "file.delete", "fileutils.rm", "deno.remove",
		"deno.removesync")

	// moving and copying are the names of functions that do so with two files.
	moving  = kit.Set("rename", "renamesync", "renames", "os.replace", "shutil.move", "movesync", "fileutils.mv")
	copying = kit.Set("copy", "copy2", "copyfile", "copyfilesync", "copysync", "cp", "cpsync", "symlink",
		"symlinksync", "link", "linksync")

	// returningPath are the names of functions whose result is the path that their texts form.
	returningPath = kit.Set("path", "purepath", "join", "joinpath", "resolve", "expanduser", "expandvars", "abspath",
		"realpath", "absolute", "expand_path", "home", "homedir", "str", "fspath", "file")
)
