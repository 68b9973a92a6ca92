package declared

import (
	"path/filepath"
	"strings"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"
)

// command returns a caller that starts the command for each payload. No shell reads the arguments, and nothing of a
// payload is in them.
func (f *File) command(d *declaration) (wire.Caller, error) {
	argv, options, err := f.program(d)
	if err != nil {
		return nil, err
	}
	return wireexec.Command(argv, options...), nil
}

// program returns the arguments and the options of a command or a process.
func (f *File) program(d *declaration) ([]string, []wireexec.Option, error) {
	v := d.given[d.kind]
	argv, err := v.texts()
	if err != nil {
		return nil, nil, err
	}
	if argv[0] == "" {
		return nil, nil, v.errorf("the command is empty")
	}
	for i, a := range argv {
		if strings.ContainsRune(a, 0) {
			return nil, nil, v.items[i].errorf("an argument cannot contain a NUL character")
		}
	}
	dir := filepath.Dir(f.Path)
	if v, ok := d.given["dir"]; ok {
		given, err := v.text()
		if err != nil {
			return nil, nil, err
		}
		if !filepath.IsAbs(given) {
			given = filepath.Join(dir, given)
		}
		dir = given
	}
	options := []wireexec.Option{wireexec.Dir(dir), wireexec.MaxBytes(maxReply)}
	if d.timeout > 0 {
		options = append(options, wireexec.Timeout(d.timeout))
	}
	if v, ok := d.given["env"]; ok {
		env, err := variables(v)
		if err != nil {
			return nil, nil, err
		}
		for name, value := range env {
			if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(value, 0) {
				return nil, nil, v.errorf("the environment variable %q is invalid", name)
			}
			options = append(options, wireexec.Env(name+"="+value))
		}
	}
	return argv, options, nil
}

// maxReply is the most bytes of the reply of a command, a process or an endpoint.
const maxReply = 4 << 20
