package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventpage"
)

// serve shows a record as a page in a browser on this machine, until it is interrupted.
func (i *invocation) serve(ctx context.Context, args []string) (int, error) {
	flags := newFlags("serve")
	var addr, host, tokenFile, name string
	flags.StringVar(&addr, "addr", "127.0.0.1:0", "")
	flags.StringVar(&host, "host", "", "")
	flags.StringVar(&tokenFile, "token", "", "")
	flags.StringVar(&name, "name", "", "")
	files, err := parse(flags, args)
	if err != nil {
		return trouble, err
	}
	token, err := tokenOf(tokenFile)
	if err != nil {
		return trouble, err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	listener, err := listen(ctx, addr, host != "")
	if err != nil {
		return trouble, err
	}
	defer listener.Close() // again after the server, which is harmless
	address, hosts, err := addressOf(listener, host)
	if err != nil {
		return trouble, err
	}
	if at, ok := listener.Addr().(*net.TCPAddr); ok && at.IP.IsLoopback() && host != "" &&
		!strings.HasPrefix(address, "https:") {
		fmt.Fprintf(i.stderr, "hooklog: %s reaches %s only through a proxy or a tunnel of this machine; for browsers of "+
			"other machines add -addr :8080\n", address, at)
	}
	x, err := i.openIndex(files, name)
	if err != nil {
		return trouble, err
	}
	defer x.Close() // it was only read
	// The index has few pointers, so collecting garbage costs little, and the record may be read for a minute.
	defer debug.SetGCPercent(debug.SetGCPercent(25))

	server := newServer(ctx, eventpage.NewHandler(x, filepath.Base(files[0]), token, hosts...))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	fmt.Fprintf(i.stdout, "%s/?token=%s\n", address, token)

	err = i.keepReading(ctx, x, served)
	stop()
	shut, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if server.Shutdown(shut) != nil {
		_ = server.Close() // a browser still loads something
	}
	if err != nil {
		return trouble, err
	}
	return fine, nil
}

// newServer returns the server of a page. The end of the context ends the requests that wait for changes.
func newServer(ctx context.Context, page http.Handler) *http.Server {
	return &http.Server{
		Handler:           page,
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    64 << 10,
		BaseContext:       func(net.Listener) context.Context { return ctx },
	}
}

// idleTimeout is how long a connection without a request stays open. A browser opens another one when it needs it.
const idleTimeout = time.Minute

// keepReading updates an index until the context ends or the server fails.
func (i *invocation) keepReading(ctx context.Context, x *eventlog.Index, served <-chan error) error {
	var problems reporter
	said := ""       // the error that was reported last
	checked := false // -name
	for {
		err := x.Update(ctx)
		problems.report(i.stderr, x.Status(), false)
		switch {
		case ctx.Err() != nil:
			return nil
		case err == nil:
			said = ""
			if !checked && x.Status().Events > 0 {
				checked = true
				i.checkName(x)
			}
		case said != err.Error(): // for example a disk that is gone for a while
			said = err.Error()
			fmt.Fprintf(i.stderr, "hooklog: %s\n", visible(said, 0))
		}
		select {
		case err := <-served:
			return err
		default:
		}
		if !i.pause(ctx) {
			return nil
		}
	}
}

// pollInterval is how long serve waits before it looks at its file again.
const pollInterval = 250 * time.Millisecond

// pause waits for the interval, and returns false if the context ends.
func pause(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(pollInterval):
		return true
	}
}

// openIndex opens the index of the one file on the command line, whose runs have the names of a field.
func (i *invocation) openIndex(files []string, name string) (*eventlog.Index, error) {
	if len(files) != 1 || files[0] == standardInput {
		return nil, usage("want one FILE, which is not standard input, because the page reads its events " +
			"again: write them to a file first, and follow that")
	}
	var field eventlog.Field
	if name != "" {
		var err error
		if field, err = eventlog.ParseField(name); err != nil {
			return nil, usage("-name: %w", err)
		}
	}
	x, err := eventlog.Open(files[0])
	if err == nil {
		x.Name = field
	}
	return x, err
}

// checkName prints a hint if no event has the field of the flag -name.
func (i *invocation) checkName(x *eventlog.Index) {
	if x.Name.Point == "" || x.HasName() {
		return
	}
	wanted := names{wanted: []string{x.Name.Point}, met: map[string]bool{}}
	for _, p := range x.Names().Points {
		wanted.met[p.Name] = true
	}
	notes := wanted.unknown("point")
	if notes == nil {
		notes = []string{fmt.Sprintf("no payload of %s has the field %s; hooklog show -v -point %[1]s shows its fields",
			visible(x.Name.Point, mostName), visible(strings.Join(x.Name.Path, "."), mostName))}
	}
	fmt.Fprintf(i.stderr, "hooklog: -name: %s\n", notes[0])
}

// tokenOf reads the token from a file, so that the address of the page stays the same. Without a file it is random.
func tokenOf(file string) (string, error) {
	if file == "" {
		return rand.Text(), nil
	}
	text, err := os.ReadFile(file)
	info, statErr := os.Stat(file)
	if err = cmp.Or(err, statErr); err != nil {
		return "", err
	}
	if info.Mode().Perm()&0o077 != 0 && runtime.GOOS != "windows" {
		return "", usage("-token %s: others can read or change the file: chmod 600 it", visible(file, 80))
	}
	token := strings.TrimSpace(string(text))
	if len(token) < shortestToken || url.QueryEscape(token) != token {
		return "", usage("-token %s: want a file with at least %d letters, digits and dashes", visible(file, 80),
			shortestToken)
	}
	return token, nil
}

// shortestToken is the least length of a token that nobody guesses.
const shortestToken = 20

// listen listens on an address of this machine. Other machines can reach it only if the caller has named a host for
// them.
func listen(ctx context.Context, addr string, named bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, usage("-addr %s: want an address and a port, such as 127.0.0.1:8080", visible(addr, 80))
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); !named && (ip == nil || !ip.IsLoopback()) {
		return nil, usage("-addr %s: a record is shown to this machine only; use 127.0.0.1:%s, or name the host that others "+
			"use with -host", visible(addr, 80), visible(port, 10))
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil { // mostly another hooklog that listens there
		return nil, fmt.Errorf("-addr: %w; choose another port, or leave the flag out for any free one", err)
	}
	return l, nil
}

// addressOf returns the address of the page, and the names by which a browser may call the server. The host is the one
// of the flag -host: a name, perhaps with a port, or the address of a proxy, such as https://records.example.com.
func addressOf(l net.Listener, host string) (address string, hosts []string, err error) {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	hosts = []string{l.Addr().String(), net.JoinHostPort("localhost", port)}
	if port == "80" { // which browsers leave out
		hosts = append(hosts, strings.TrimSuffix(l.Addr().String(), ":80"), "localhost")
	}
	if host == "" {
		return "http://" + l.Addr().String(), hosts, nil
	}
	proxied := strings.Contains(host, "://")
	if !proxied {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil || u.Hostname() == "" || u.Scheme+"://"+u.Host != host || u.Scheme != "http" && u.Scheme != "https" {
		return "", nil, usage("-host %s: want a name, such as records.example.com, or the address of a proxy, such as "+
			"https://records.example.com", visible(host, 80))
	}
	if !proxied && u.Port() == "" && port != "80" {
		u.Host = net.JoinHostPort(u.Hostname(), port)
	}
	return u.String(), append(hosts, strings.TrimPrefix(u.String(), "http://")), nil
}

// A reporter prints problems of a record, each one once.
type reporter struct {
	generation    int64
	printed, more int
}

// report prints the problems that a status has more than the last one. The one of an incomplete last line is printed if
// the record is complete. It returns the exit code for the record.
func (r *reporter) report(w io.Writer, s eventlog.Status, complete bool) int {
	if s.Generation != r.generation {
		*r = reporter{generation: s.Generation}
	}
	code := fine
	for n, p := range s.Problems {
		if p.Open && !complete {
			continue
		}
		code = findings
		if n >= r.printed {
			fmt.Fprintln(w, visible(p.String(), 0))
			r.printed = n + 1
		}
	}
	if s.More > r.more {
		fmt.Fprintf(w, "%s more\n", plural(s.More-r.more, "problem"))
		r.more = s.More
	}
	return code
}
