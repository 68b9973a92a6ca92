package declared

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"
	"github.com/hookgen/hookgen/hookkit/wire/wirehttp"
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

// A resident is a caller for a process that is started once. It starts at the first payload. When its declaration is
// changed or unloaded, it ends as soon as it has answered all payloads.
type resident struct {
	undescribed
	start func() *wireexec.ProcessCaller
	name  string

	mu      sync.Mutex
	current *wireexec.ProcessCaller // nil before the first payload, and after the end
	busy    int                     // the calls that use it
	retired bool
}

// process returns a caller for the process of a declaration.
func (f *File) process(d *declaration) (*resident, error) {
	argv, options, err := f.program(d)
	if err != nil {
		return nil, err
	}
	return &resident{
		name:  argv[0],
		start: func() *wireexec.ProcessCaller { return wireexec.Process(argv, options...) },
	}, nil
}

func (r *resident) String() string { return r.name }

// Call sends the payload to the process. A fire that began before the hook was removed may call it after that. It then
// starts the process again for this call, because the hooks of a fire do not change.
func (r *resident) Call(ctx context.Context, request wire.Request) (wire.Reply, error) {
	p := r.acquire()
	defer r.release()
	return p.Call(ctx, request)
}

func (r *resident) acquire() *wireexec.ProcessCaller {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil {
		r.current = r.start()
	}
	r.busy++
	return r.current
}

func (r *resident) release() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy--
	r.endIdle()
}

// retire ends the process, after the calls that use it.
func (r *resident) retire() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retired = true
	r.endIdle()
}

// endIdle ends the process if it is retired and nobody uses it.
func (r *resident) endIdle() {
	if r.retired && r.busy == 0 && r.current != nil {
		_ = r.current.Close() // it always returns nil
		r.current = nil
	}
}

// endpoint returns a caller that posts each payload to the URL. It follows no redirect.
func (f *File) endpoint(d *declaration) (wire.Caller, error) {
	v := d.given["url"]
	address, err := v.text()
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, v.errorf("a URL that begins with https:// or http:// is needed here")
	}
	options := []wirehttp.CallerOption{wirehttp.MaxBytes(maxReply)}
	if d.timeout > 0 {
		options = append(options, wirehttp.Timeout(d.timeout))
	}
	if v, ok := d.given["headers"]; ok {
		headers, err := variables(v)
		if err != nil {
			return nil, err
		}
		for name, value := range headers {
			if !isToken(name) || strings.ContainsAny(value, "\r\n\x00") {
				return nil, v.errorf("the header %q is invalid", name)
			}
			options = append(options, wirehttp.Header(name, value))
		}
	}
	return wirehttp.NewCaller(address, options...), nil
}

// isToken reports whether a text is the name of a header.
func isToken(name string) bool {
	const special = "!#$%&'*+-.^_`|~"
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		letter := r|0x20 >= 'a' && r|0x20 <= 'z'
		return !letter && (r < '0' || r > '9') && !strings.ContainsRune(special, r)
	})
}
