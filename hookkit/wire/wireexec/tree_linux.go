package wireexec

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// stopTree stops a process group and the descendants of its leader, and returns the descendants. For example, a script
// started a server with setsid, so that the server is not in the group of the script. A stopped process neither starts
// nor reaps another, so that the numbers stay valid until the caller kills them.
//
// A process whose parent has ended is not found, because the system gives it another parent.
func stopTree(leader int) []int {
	_ = syscall.Kill(-leader, syscall.SIGSTOP)
	var stopped []int
	known := map[int]bool{leader: true}
	const rounds = 32 // again, because one may have started another before it was stopped
	for more, n := true, 0; more && n < rounds; n++ {
		more = false
		for pid, parent := range parents() {
			if known[parent] && !known[pid] {
				_ = syscall.Kill(pid, syscall.SIGSTOP)
				known[pid], more = true, true
				stopped = append(stopped, pid)
			}
		}
	}
	return stopped
}

// parents returns the number of the parent of each process.
func parents() map[int]int {
	all := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		// The second field is the name in parentheses, which may contain parentheses and spaces.
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || len(fields) < 2 {
			continue
		}
		if parent, err := strconv.Atoi(fields[1]); err == nil {
			all[pid] = parent
		}
	}
	return all
}
