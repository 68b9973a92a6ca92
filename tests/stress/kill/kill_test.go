package kill

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookgen/hookgen/internal/race"
)

var (
	kills  = flag.Int("kills", 0, "how many `times` each writer is killed; 0 for 24, or 5 under the race detector")
	report = flag.Bool("report", false, "write the figures into docs/evidence/figures")
)

// The environment of a process that will be killed: the writer, the directory, the first version, and the number
// of versions. The number 0 means one version per byte of standard input, until the kill.
const victim = "HOOKGEN_KILL_VICTIM"

func TestMain(m *testing.M) {
	if what := os.Getenv(victim); what != "" {
		if err := beVictim(strings.Split(what, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if *kills == 0 {
		if *kills = 24; race.Enabled {
			*kills = 5
		}
	}
	_ = flag.Set("test.parallel", "6") // the tests wait for processes and for the disk
	code := m.Run()
	if code == 0 && *report {
		if err := writeReport(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// beVictim writes versions and reports the start and the end of each.
func beVictim(what []string) error {
	i := slices.IndexFunc(writers, func(w writer) bool { return w.name == what[0] })
	from, err := strconv.Atoi(what[2])
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(what[3])
	if err != nil {
		return err
	}
	write, err := writers[i].open(what[1], from)
	if err != nil {
		return err
	}
	for v := from; n == 0 || v < from+n; v++ {
		if n == 0 {
			if _, err := io.ReadFull(os.Stdin, make([]byte, 1)); err != nil {
				return err // no parent is left
			}
		}
		fmt.Printf("begun %d\n", v)
		if err := write(v); err != nil {
			return err
		}
		fmt.Printf("done %d\n", v)
	}
	return nil
}

// A process is a process that will be killed.
type process struct {
	cmd    *exec.Cmd
	stdin  io.Writer
	stderr strings.Builder
	lines  chan string
	done   int // the last version that it reported as written
	begun  int
}

func start(w writer, dir string, from, n int) (*process, error) {
	p := &process{cmd: exec.Command(os.Args[0]), lines: make(chan string), done: from - 1, begun: from - 1}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d|%d", victim, w.name, dir, from, n), "GOMAXPROCS=1")
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.stdin = stdin
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	return p, nil
}

// next reads a line of the process and reports false at the end of the output.
func (p *process) next() bool {
	line, ok := <-p.lines
	if !ok {
		return false
	}
	var v int
	if _, err := fmt.Sscanf(line, "done %d", &v); err == nil {
		p.done = v
	} else if _, err := fmt.Sscanf(line, "begun %d", &v); err == nil {
		p.begun = v
	}
	return true
}

// end reads the remaining output and waits for the end of the process.
func (p *process) end() error {
	for p.next() {
	}
	return p.cmd.Wait()
}

// A tally sums up the kills of one writer.
type tally struct {
	kills, within, files, torn int
	when                       string // the condition that within counts
}

var tallies struct {
	sync.Mutex
	of map[string]tally
}

func (t tally) note(name string) {
	tallies.Lock()
	defer tallies.Unlock()
	if tallies.of == nil {
		tallies.of = make(map[string]tally)
	}
	tallies.of[name] = t
}

// perDir is the number of kills per directory.
const perDir = 25

func TestKilledProgramLeavesWholeFiles(t *testing.T) {
	for _, w := range writers {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(rand.Uint64(), 1))
			sum := tally{when: "while a version was written"}
			usual := time.Millisecond // time between two versions
			for sum.kills < *kills {
				dir := t.TempDir()
				at := place{dir: dir}
				for range min(perDir, *kills-sum.kills) {
					kill(t, w, &at, random, &usual, &sum)
					if t.Failed() {
						return
					}
				}
				restart(t, w, dir, at.last+1)
				if err := os.RemoveAll(dir); err != nil {
					t.Fatal(err)
				}
			}
			sum.note(w.name)
			t.Logf("%d kills, %d while a version was written: %d left a temporary file, %d an unfinished line; a version "+
				"takes about %v", sum.kills, sum.within, sum.files, sum.torn, usual)
		})
	}
}

// A place is a directory that is reused by several killed processes.
type place struct {
	dir         string
	last        int   // version
	found       []int // by file
	files, torn int   // leftovers
}

// kill starts a process, kills it, and checks the files.
func kill(t *testing.T, w writer, at *place, random *rand.Rand, usual *time.Duration, sum *tally) {
	t.Helper()
	dir, from, were := at.dir, at.last+1, at.found
	p, err := start(w, dir, from, 0)
	if err != nil {
		t.Fatal(err)
	}
	before := random.IntN(3) // versions that are written without a kill
	if _, err := p.stdin.Write(make([]byte, before+max(8, w.ahead))); err != nil {
		t.Fatal(err)
	}
	alive := p.next() // the write has started
	for range before {
		begun := time.Now()
		alive = alive && p.next() && p.next()
		*usual += (time.Since(begun) - *usual) / 8
	}
	if !alive {
		t.Fatalf("the process ended by itself: %v\n%s", p.cmd.Wait(), &p.stderr)
	}
	time.Sleep(time.Duration(random.Int64N(int64(*usual)*5/4 + 1))) // the random moment
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := p.end(); err == nil || p.cmd.ProcessState.Exited() {
		t.Fatalf("the process was not killed: %v\n%s", err, &p.stderr)
	}
	sum.kills++
	if p.begun > p.done {
		sum.within++
	}
	files, torn := left(t, w, dir)
	sum.files += files - at.files
	sum.torn += torn - at.torn
	if torn > at.torn+1 {
		t.Errorf("one kill left %d unfinished lines", torn-at.torn)
	}
	at.files, at.torn = files, torn

	found, err := w.read(dir, from)
	if none(err) {
		found, err = nil, nil
	}
	if err != nil {
		t.Errorf("versions %d were done and %d begun; what is there cannot be read: %v", p.done, p.begun, err)
		return
	}
	if len(found) == 0 {
		if p.done >= from || from > 1 && w.name != recorder.name { // the recorder has a directory for each process
			t.Errorf("version %d was done; there is none", p.done)
		}
		return
	}
	for i, v := range found {
		old := 0 // the version in the file at the start of the process
		if i < len(were) {
			old = were[i]
		}
		if v != p.done && v != p.begun && (p.done >= from || v != old) {
			t.Errorf("versions %d were done and %d begun; there are %v, and were %v", p.done, p.begun, found, were)
			return
		}
	}
	at.last, at.found = slices.Max(found), found
}

// restart writes without a kill to a directory of killed processes, and checks the files.
func restart(t *testing.T, w writer, dir string, from int) {
	t.Helper()
	_, torn := left(t, w, dir)
	longAgo := time.Now().Add(-2 * time.Hour)
	for _, path := range temporary(t, dir) {
		if err := os.Chtimes(path, longAgo, longAgo); err != nil {
			t.Fatal(err)
		}
	}
	p, err := start(w, dir, from, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.end(); err != nil || p.done != from+1 {
		t.Fatalf("the restarted process has written %d of versions %d and %d: %v\n%s", p.done, from, from+1, err, &p.stderr)
	}
	found, err := w.read(dir, from)
	if err != nil || len(found) == 0 || slices.Min(found) != from+1 || slices.Max(found) != from+1 {
		t.Errorf("the restarted process wrote version %d; there are %v, %v", from+1, found, err)
	}
	files, still := left(t, w, dir)
	if files > 0 && w.name != recorder.name { // the recorder has directories per run
		t.Errorf("%d temporary files of killed processes are still there: %v", files, temporary(t, dir))
	}
	if still != torn {
		t.Errorf("%d lines were unfinished, now %d", torn, still)
	}
}

// left counts the temporary files and the unfinished lines.
func left(t *testing.T, w writer, dir string) (files, torn int) {
	t.Helper()
	if w.torn != nil {
		var err error
		if torn, err = w.torn(dir); err != nil && !none(err) {
			t.Fatalf("unfinished lines: %v", err)
		}
	}
	return len(temporary(t, dir)), torn
}

// temporary returns the files whose names begin with a dot, without the locks of shared files, which stay.
func temporary(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), ".lock") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return paths
}
