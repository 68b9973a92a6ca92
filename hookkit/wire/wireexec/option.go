package wireexec

import (
	"io"
	"os"
	"os/exec"
	"time"
)

// The defaults of the options.
const (
	DefaultTimeout  = 30 * time.Second
	DefaultMaxBytes = 16 << 20
)

// An Option is an option of [Command] and [Process].
type Option func(*program)

// program is what both kinds of callers need to start their program.
type program struct {
	argv     []string
	dir      string
	env      []string
	stderr   io.Writer
	timeout  time.Duration
	maxBytes int
}

// Timeout limits one call, the start of the program included. The default is [DefaultTimeout]. It panics unless d is
// positive.
func Timeout(d time.Duration) Option {
	if d <= 0 {
		panic("wireexec: Timeout needs a positive duration")
	}
	return func(p *program) { p.timeout = d }
}

// MaxBytes limits one reply. The default is [DefaultMaxBytes]. It panics unless n is positive.
func MaxBytes(n int) Option {
	if n <= 0 {
		panic("wireexec: MaxBytes needs a positive number")
	}
	return func(p *program) { p.maxBytes = n }
}

// Env adds variables to the environment of the program, as in "NAME=value". The others that it gets are PATH, HOME,
// USER, LANG, LC_ALL, TZ and TMPDIR, and on Windows SYSTEMROOT, TEMP, PATHEXT and USERPROFILE.
func Env(variables ...string) Option {
	return func(p *program) { p.env = append(p.env, variables...) }
}

// Dir sets the working directory of the program. The default is the one of the calling program.
func Dir(path string) Option { return func(p *program) { p.dir = path } }

// Stderr copies the standard error of the program to w. Without it, only the end of that text is kept, for the error
// of a call that fails.
func Stderr(w io.Writer) Option { return func(p *program) { p.stderr = w } }

// inherited are the variables that a program gets from the environment of this process.
var inherited = []string{"PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR",
	"SYSTEMROOT", "TEMP", "PATHEXT", "USERPROFILE"}

func newProgram(argv []string, opts []Option) *program {
	p := &program{argv: argv, timeout: DefaultTimeout, maxBytes: DefaultMaxBytes}
	for _, name := range inherited {
		if v, ok := os.LookupEnv(name); ok {
			p.env = append(p.env, name+"="+v)
		}
	}
	for _, o := range opts {
		o(p)
	}
	return p
}

// command returns the program, ready to start.
func (p *program) command() (*exec.Cmd, *tail, error) {
	if len(p.argv) == 0 {
		return nil, nil, errNoProgram
	}
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Dir, cmd.Env = p.dir, p.env
	end := &tail{copyTo: p.stderr}
	cmd.Stderr = end
	ownGroup(cmd)
	return cmd, end, nil
}

// String returns the program without its arguments, which may be secret.
func (p *program) String() string {
	if len(p.argv) == 0 {
		return "no program"
	}
	return p.argv[0]
}
