package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestServeShowsStandardInput writes events to hooklog serve -, and asks for them as a browser does.
func TestServeShowsStandardInput(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	in, events := io.Pipe()
	out, printed := io.Pipe()
	var stderr bytes.Buffer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	again := make(chan struct{}) // lets the command look at its input again
	i := &invocation{stdin: in, stdout: printed, stderr: &stderr, pause: func(ctx context.Context) bool {
		select {
		case <-again:
			return true
		case <-ctx.Done():
			return false
		}
	}}
	ended := make(chan int)
	go func() { ended <- i.run(ctx, []string{"serve", "-"}) }()
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address = strings.TrimSpace(address)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := http.Client{Jar: jar}
	get := func(url string) []byte {
		t.Helper()
		reply, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer reply.Body.Close()
		text, err := io.ReadAll(reply.Body)
		if err != nil || reply.StatusCode != http.StatusOK {
			t.Fatalf("%s, %v", reply.Status, err)
		}
		return text
	}
	if page := get(address); !bytes.Contains(page, []byte(`"name":"standard input"`)) {
		t.Errorf("the page is %s", page)
	}
	base, _, _ := strings.Cut(address, "?")
	const line = `{"protocol":1,"spec":"s","point":"P","run":{"id":"a"},"payload":1,"decision":"continue"}` + "\n"
	for want := range 3 {
		if _, err := io.WriteString(events, line); err != nil {
			t.Fatal(err)
		}
		// The pipe has been read, but the event may not be in the temporary file yet.
		for {
			again <- struct{}{}
			var status struct{ Events int }
			if err := json.Unmarshal(get(base+"api/status"), &status); err != nil {
				t.Fatal(err)
			}
			if status.Events > want {
				break
			}
		}
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 && runtime.GOOS != "windows" {
		t.Errorf("a killed program would leave %v", files)
	}
	cancel()
	if code := <-ended; code != fine || stderr.Len() > 0 {
		t.Errorf("the exit code is %d: %s", code, stderr.String())
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("%v are left", files)
	}
}
