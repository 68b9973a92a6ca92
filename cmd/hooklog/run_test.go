package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/internal/version"
)

// TestErrorsAreVisible gives names and flags that would control the terminal.
func TestErrorsAreVisible(t *testing.T) {
	const hostile = "\x1b[2J\u202e"
	for _, args := range [][]string{
		{hostile},
		{"show", hostile}, {"show", "-" + hostile}, {"show", "-color", hostile, "f"}, {"show", "-since", hostile, "f"},
		{"stats", hostile}, {"diff", hostile, hostile},
		{"html", hostile}, {"html", "-o", hostile, hostile}, {"serve", hostile},
		{"serve", "-addr", hostile, "f"},
	} {
		var out bytes.Buffer
		i := &invocation{
			stdin: strings.NewReader(""), stdout: &out, stderr: &out, pause: func(context.Context) bool { return false },
		}
		if code := i.run(t.Context(), args); code != trouble || !strings.Contains(out.String(), "hooklog: ") {
			t.Errorf("%q: the exit code is %d: %s", args, code, out.String())
		}
		if strings.ContainsAny(out.String(), hostile[:1]+"\u202e") {
			t.Errorf("%q: got %q", args, out.String())
		}
	}
}

func TestFlagsMayBeAnywhere(t *testing.T) {
	for _, c := range []struct{ args, files, run string }{
		{"a -run x b", "a b", "x"},
		{"-run x -- -a -run -b", "-a -run -b", "x"},
		{"a -- -b", "a -b", ""},
		{"-- -- -a", "-- -a", ""},
		{"a --", "a", ""},
		{"- -run=x", "-", "x"},
	} {
		t.Run(c.args, func(t *testing.T) {
			flags := newFlags("show")
			run := flags.String("run", "", "")
			files, err := parse(flags, strings.Fields(c.args))
			if err != nil || !reflect.DeepEqual(files, strings.Fields(c.files)) || *run != c.run {
				t.Errorf("got the files %q and -run %q, %v", files, *run, err)
			}
		})
	}
}

// A fullDisk is a stream to which nothing can be written.
type fullDisk struct{}

var errFull = errors.New("no space left")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// A program may write events for hours, and tail -F another one.
func TestShowPrintsEachEventOfAPipe(t *testing.T) {
	in, events := io.Pipe()
	out, printed := io.Pipe()
	i := &invocation{stdin: in, stdout: printed, stderr: io.Discard}
	ended := make(chan int, 1)
	go func() { ended <- i.run(t.Context(), []string{"show", "-json", "-"}) }()
	lines := bufio.NewReader(out)
	for n := range int64(3) {
		if _, err := io.WriteString(events, lineOf(event(n))); err != nil {
			t.Fatal(err)
		}
		if got, err := lines.ReadString('\n'); err != nil || got != lineOf(event(n)) {
			t.Errorf("got %q, %v", got, err)
		}
	}
	_ = events.Close()
	if code := <-ended; code != fine {
		t.Errorf("the exit code is %d", code)
	}
}

func TestShowEndsIfOutputFails(t *testing.T) {
	in, events := io.Pipe()
	defer events.Close()
	var stderr bytes.Buffer
	i := &invocation{stdin: in, stdout: fullDisk{}, stderr: &stderr}
	go func() { _, _ = io.WriteString(events, lineOf(event(1))) }() // an error means that nobody reads any more
	code := i.run(t.Context(), []string{"show", "-"})
	if code != trouble || !strings.Contains(stderr.String(), "no space") {
		t.Errorf("the exit code is %d: %s", code, stderr.String())
	}
}

// An address is the listener of an address.
type address struct {
	net.Listener
	text string
}

func (a address) Addr() net.Addr {
	tcp, err := net.ResolveTCPAddr("tcp", a.text)
	if err != nil {
		panic(err)
	}
	return tcp
}

func TestHostsAreThoseOfBrowsers(t *testing.T) {
	for _, c := range []struct{ address, host, want string }{
		{"127.0.0.1:4711", "", "http://127.0.0.1:4711 127.0.0.1:4711 localhost:4711"},
		{"[::1]:4711", "", "http://[::1]:4711 [::1]:4711 localhost:4711"},
		{"127.0.0.1:80", "", "http://127.0.0.1:80 127.0.0.1:80 localhost:80 127.0.0.1 localhost"},
		{"[::1]:80", "", "http://[::1]:80 [::1]:80 localhost:80 [::1] localhost"},
		{"[::]:8080", "logs.example", "http://logs.example:8080 [::]:8080 localhost:8080 logs.example:8080"},
		{"[::]:80", "logs.example", "http://logs.example [::]:80 localhost:80 [::] localhost logs.example"},
		{"[::]:8080", "logs.example:9", "http://logs.example:9 [::]:8080 localhost:8080 logs.example:9"},
		{"127.0.0.1:9", "https://logs.example", "https://logs.example 127.0.0.1:9 localhost:9 https://logs.example"},
		{"127.0.0.1:9", "http://logs.example", "http://logs.example 127.0.0.1:9 localhost:9 logs.example"},
	} {
		address, hosts, err := addressOf(address{text: c.address}, c.host)
		if got := strings.Join(append([]string{address}, hosts...), " "); got != c.want || err != nil {
			t.Errorf("%s: got %s, %v, want %s", c.address, got, err, c.want)
		}
	}
	for _, host := range []string{"logs.example/", "user@logs.example", "ftp://logs.example", "https://logs.example/path",
		"a b", "https://", ":80", "logs.example?token", "logs.example:port"} {
		if address, _, err := addressOf(address{text: "127.0.0.1:9"}, host); err == nil {
			t.Errorf("-host %s: the address is %s", host, address)
		}
	}
}

func TestVersionIsPrinted(t *testing.T) {
	for arg, want := range map[string]string{"--version": version.Text("hooklog"), "-version": version.Text("hooklog"),
		"-h": helpOf("hooklog")} {
		var out, problems bytes.Buffer
		i := &invocation{stdout: &out, stderr: &problems}
		if code := i.run(t.Context(), []string{arg}); code != fine || problems.Len() > 0 || out.String() != want {
			t.Errorf("%s: the exit code is %d, printed %q and %q", arg, code, &out, &problems)
		}
		if !strings.Contains(helpOf("hooklog"), "--version") {
			t.Error("the help does not mention --version")
		}
	}
}
