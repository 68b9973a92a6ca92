package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// A machine describes the machine that made the figures, and its load.
type machine struct {
	text  string
	load  string    // as reported by the system: runnable threads in the last minute, on average
	noise []float64 // of an empty loop before, between and after: median over minimum
}

func newMachine() machine {
	return machine{
		text: fmt.Sprintf("%s, %d processors, %s/%s, %s", processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH,
			runtime.Version()), load: load(),
	}
}

// load returns the load of the last minute, if the system reports it.
func load() string {
	all, _ := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(all)); len(fields) > 0 {
		return fields[0]
	}
	return "unknown"
}

// processor returns the processor's name, if the system reports it.
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
	t := p.measure([]contestant{{name: "spin", loop: spin}})[0]
	m.noise = append(m.noise, t.median()/t.best()-1)
}

func spin(n int) {
	x := uint64(88172645463325252)
	for range n {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	runtime.KeepAlive(x)
}

// noises returns the noise figures as text.
func (m machine) noises() string {
	var noise []string
	for _, n := range m.noise {
		noise = append(noise, fmt.Sprintf("%.0f %%", n*100))
	}
	return strings.Join(noise, ", ")
}

// String describes the machine, its load and its noise.
func (m machine) String() string {
	return fmt.Sprintf("%s. Load of the minute before: %s. Noise, the median round of a loop that fires nothing over "+
		"its quickest, at the start, in the middle and at the end: %s more",
		m.text, m.load, m.noises())
}

// A pace is the length and the number of rounds.
type pace struct {
	rounds int
	round  time.Duration
}

func (p pace) String() string { return fmt.Sprintf("%d rounds of %v", p.rounds, p.round) }
