package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// A machine is where the figures come from.
type machine struct {
	text  string
	noise []float64 // of a loop that does nothing else, before and after: how much slower the median round was than the quickest
}

func newMachine() machine {
	return machine{text: fmt.Sprintf("%s, %d processors, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version())}
}

// processor returns the processor's name, where the system tells it.
func processor() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// listen measures the noise.
func (m *machine) listen(p pace) {
	t := p.measure([]contestant{{"spin", spin}})[0]
	m.noise = append(m.noise, t.median()/t.best()-1)
}

var spun uint64

func spin(n int) {
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	spun = x
}

// String says what machine it was and how quiet.
func (m machine) String() string {
	var noise []string
	for _, n := range m.noise {
		noise = append(noise, fmt.Sprintf("%.0f %%", n*100))
	}
	return m.text + "; noise before and after: " + strings.Join(noise, ", ")
}

// A pace says how long and how often a contestant runs.
type pace struct {
	rounds int
	round  time.Duration
}

func (p pace) String() string { return fmt.Sprintf("%d rounds of %v", p.rounds, p.round) }
