package kill

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/usermodule"
)

// hookgen returns a command that runs hookgen in a directory. Its temporary directories are below temp.
func hookgen(binary, dir, temp string, args ...string) *exec.Cmd {
	cmd := exec.Command(binary, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TMPDIR="+temp, "GOWORK=off", "GOFLAGS=-mod=mod")
	return cmd
}

const generated = "hooks_gen.go"

// specOf returns a spec with a number of points.
func specOf(word string, points int) []byte {
	var b strings.Builder
	b.WriteString("package mail\n\nimport \"github.com/hookgen/hookgen/spec\"\n\ntype World struct{}\n\n")
	fmt.Fprintf(&b, "// Points are those of %s.\n//\n//hookgen:points\ntype Points interface {\n\tspec.Env[*World]\n\n",
		word)
	for i := range points {
		fmt.Fprintf(&b, "\tOn%s%d(text string) (spec.Replace, spec.FailClosed)\n", word, i)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

// killedAt kills a command at a random moment, either in its whole run time or shortly after a change in a
// directory. It reports whether the kill came in time.
func killedAt(cmd *exec.Cmd, random *rand.Rand, dir string, whole time.Duration) (bool, error) {
	before := stamp(dir)
	if err := cmd.Start(); err != nil {
		return false, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if random.IntN(4) == 0 {
		time.Sleep(time.Duration(random.Int64N(int64(whole))))
	} else {
		for begun := time.Now(); stamp(dir) == before && time.Since(begun) < 2*whole; {
			if len(ended) > 0 {
				break
			}
		}
		time.Sleep(time.Duration(random.Int64N(int64(200 * time.Microsecond))))
	}
	_ = cmd.Process.Kill()
	<-ended
	return !cmd.ProcessState.Exited(), nil
}

// stamp returns a text that changes with the contents of a directory.
func stamp(dir string) string {
	var b strings.Builder
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			fmt.Fprintln(&b, e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

func TestKilledHookgenLeavesWholeOutput(t *testing.T) {
	t.Parallel()
	binary := usermodule.BuildHookgen(t)
	dir, temp := t.TempDir(), t.TempDir()
	specs := [2][]byte{specOf("First", 40), specOf("Second", 60)}
	var outputs [2][]byte
	var took time.Duration
	put := func(i int) {
		if err := os.WriteFile(filepath.Join(dir, "spec.go"), specs[i], 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/mail\n\ngo 1.26.0\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	generate := func() string {
		t.Helper()
		begun := time.Now()
		out, err := hookgen(binary, dir, temp).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		took = time.Since(begun)
		return string(out)
	}
	output := func() []byte {
		data, err := os.ReadFile(filepath.Join(dir, generated))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for i := range specs {
		put(i)
		generate()
		outputs[i] = output()
	}

	random := rand.New(rand.NewPCG(rand.Uint64(), 2))
	sum, old := tally{when: "before the new output was there"}, 1
	for n := 0; sum.kills < *kills; n++ {
		put(1 - old)
		killed, err := killedAt(hookgen(binary, dir, temp), random, dir, took)
		if err != nil {
			t.Fatal(err)
		}
		if killed {
			sum.kills++
		}
		switch got := output(); {
		case bytes.Equal(got, outputs[1-old]):
			old = 1 - old
		case !killed:
			t.Fatal("hookgen ended by itself and its output is not of the spec")
		case bytes.Equal(got, outputs[old]):
			sum.within++
		default:
			t.Fatalf("%s is neither the old output nor the new one: %d bytes, want %d or %d", generated, len(got),
				len(outputs[0]), len(outputs[1]))
		}
	}
	files := temporary(t, dir)
	sum.files = len(files)
	for _, path := range files { // another invocation, much later
		longAgo := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	put(1 - old)
	generate()
	if !bytes.Equal(output(), outputs[1-old]) {
		t.Error("hookgen does not go on where others were killed")
	}
	if files := temporary(t, dir); len(files) > 0 {
		t.Errorf("temporary files of killed invocations are still there: %v", files)
	}
	t.Logf("%d kills, %d of them before the new output was there, %d left a temporary file; hookgen takes about %v",
		sum.kills, sum.within, sum.files, took)
	sum.note("hookgen")
}

func TestKilledInitLeavesWholeFiles(t *testing.T) {
	t.Parallel()
	binary := usermodule.BuildHookgen(t)
	temp := t.TempDir()
	parent := t.TempDir()
	begin := func(name string) (dir string) { // equal names, so that the content is equal
		dir = filepath.Join(parent, name, "mail")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	read := func(dir string) map[string]string {
		files := make(map[string]string)
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") {
				continue
			}
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			files[e.Name()] = string(data)
		}
		return files
	}
	first := begin("whole")
	begun := time.Now()
	if out, err := hookgen(binary, first, temp, "init").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	took := time.Since(begun)
	want := read(first)

	random := rand.New(rand.NewPCG(rand.Uint64(), 3))
	sum := tally{when: "between two files"}
	for n := 0; sum.kills < *kills; n++ {
		dir := begin(fmt.Sprint(n))
		killed, err := killedAt(hookgen(binary, dir, temp, "init"), random, dir, took)
		if err != nil {
			t.Fatal(err)
		}
		if killed {
			sum.kills++
		}
		found := read(dir)
		for name, text := range found {
			if text != want[name] {
				t.Fatalf("%s is not whole: %d bytes, want %d", name, len(text), len(want[name]))
			}
		}
		if len(found) > 0 && len(found) < len(want) {
			sum.within++
		}
		sum.files += len(temporary(t, dir))

		// The next run writes all files or reports the ones in its way, and succeeds once those are gone.
		delete(found, "go.mod") // of a module that is there now
		out, err := hookgen(binary, dir, temp, "init").CombinedOutput()
		if len(found) > 0 {
			var failed *exec.ExitError
			if !errors.As(err, &failed) || failed.ExitCode() != 1 {
				t.Fatalf("the second init: %v\n%s", err, out)
			}
			for name := range found {
				if !strings.Contains(string(out), name+
					": exists, so init writes nothing: give a new directory, or remove it (init-exists)") {
					t.Fatalf("the second init does not say what to do about %s:\n%s", name, out)
				}
				if err := os.Remove(filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			out, err = hookgen(binary, dir, temp, "init").CombinedOutput()
		}
		if err != nil {
			t.Fatalf("init where one was killed: %v\n%s", err, out)
		}
		after := read(dir)
		if len(after) != len(want) {
			t.Fatalf("init where one was killed wrote %d files, want %d", len(after), len(want))
		}
		for name, text := range after {
			if text != want[name] {
				t.Fatalf("init where one was killed wrote another %s", name)
			}
		}
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d kills, %d of them between two files, %d left a temporary file; init takes about %v", sum.kills, sum.within,
		sum.files, took)
	sum.note("hookgen init")
}
