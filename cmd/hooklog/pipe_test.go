//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestClosedPipesEndOutputQuietly runs "hooklog show FILE | head -1" without a shell, with more output than a pipe
// holds.
func TestClosedPipesEndOutputQuietly(t *testing.T) {
	path := recordOf(t, 20_000)
	hooklog := filepath.Join(t.TempDir(), "hooklog")
	test, err := os.Executable()
	if err == nil {
		err = os.Symlink(test, hooklog)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"-json", "-v"} {
		t.Run(flag, func(t *testing.T) {
			c := exec.CommandContext(t.Context(), hooklog, "show", flag, path)
			stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
			if err != nil {
				t.Fatal(err)
			}
			c.Stderr = stderr
			out, err := c.StdoutPipe()
			if err == nil {
				err = c.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			if line, err := bufio.NewReader(out).ReadString('\n'); line == "" || err != nil {
				t.Errorf("the first line is %q, %v", line, err)
			}
			if err := out.Close(); err != nil {
				t.Error(err)
			}
			if err := c.Wait(); err == nil {
				t.Error("all of the output was read")
			}
			text, err := os.ReadFile(stderr.Name())
			if err != nil || len(text) > 0 {
				t.Errorf("it printed %q, %v", text, err)
			}
			if err := stderr.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
