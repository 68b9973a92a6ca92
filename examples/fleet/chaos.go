package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/natsfleet"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/lab/figures"
	"github.com/hookgen/hookgen/loop/fleet"
)

// page is the page that gets the tables of chaos and throughput, as seen from the folder of this program.
const page = "../../docs/agents/fleets.md"

// A storm is a number of runs during which processes are killed.
type storm struct {
	workers, runs, orders, together int
	takes                           time.Duration // a payment takes at most
	every                           time.Duration // between two kills, on average
	kills                           int           // at least
	limit                           int           // model calls of the tenant "small"
	lifetime                        time.Duration // of a claim

	dir     string
	ledger  string
	address string
	env     []string
	out     io.Writer

	mu    sync.Mutex
	alive map[string]bool // workers by name, each of which has one process
	count map[string]int  // of what happened
}

// chaos kills workers, the hook service and the server with SIGKILL during many runs, and checks the promises.
func (p *program) chaos(ctx context.Context, args []string) error {
	s := &storm{orders: 12, together: 2, limit: 60, lifetime: 5 * time.Second, out: p.problems}
	p.flags.IntVar(&s.workers, "workers", 4, "the `number` of worker processes")
	p.flags.IntVar(&s.runs, "runs", 300, "the `number` of runs")
	p.flags.DurationVar(&s.takes, "takes", 1500*time.Millisecond, "half of the `time` that a payment takes at most")
	p.flags.DurationVar(&s.every, "every", 2*time.Second, "the `time` between two kills, on average")
	p.flags.IntVar(&s.kills, "kills", 40, "the least `number` of kills")
	write := p.flags.Bool("page", false, "write the figures to "+page)
	if err := p.parse(args, 0, 0); err != nil {
		return err
	}
	table, err := s.rage(ctx)
	if table != "" {
		fmt.Fprintln(p.out, table)
	}
	if err == nil && *write {
		err = figures.ReplacePart(page, "chaos", "\nMade by `go run . chaos -page` in examples/fleet.\n\n"+table+"\n")
	}
	return err
}

// A process is a part of the fleet in a process of its own. It is started again whenever it was killed.
type process struct {
	s    *storm
	role string
	args []string

	mu    sync.Mutex
	name  string
	cmd   *exec.Cmd
	count int
}

// start starts the process.
func (p *process) start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count++
	p.name = fmt.Sprintf("%s-%d", p.role, p.count)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(p.s.dir, p.role+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := p.args
	if args[0] == "worker" {
		args = append(slices.Clone(args), "-name", p.name)
	}
	p.cmd = exec.CommandContext(ctx, self, args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = p.s.env, log, log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	p.s.mark(p.name, true)
	return nil
}

// kill kills the process, and returns when it is dead.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd != nil && p.cmd.Process != nil {
		_ = p.cmd.Process.Kill() // it fails if the process has ended by itself
		_ = p.cmd.Wait()         // it was killed, which is an error
	}
	p.s.mark(p.name, false)
}

func (s *storm) mark(name string, alive bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alive[name] = alive
}

func (s *storm) add(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[what]++
}

// rage plays the storm and returns a table of what happened. The error says which promise was broken.
func (s *storm) rage(ctx context.Context) (table string, err error) {
	if s.dir, err = os.MkdirTemp("", "fleet"); err != nil {
		return "", err
	}
	defer os.RemoveAll(s.dir)
	s.ledger, s.alive, s.count = filepath.Join(s.dir, "ledger"), make(map[string]bool), make(map[string]int)
	if s.address, err = freeAddress(); err != nil {
		return "", err
	}
	opts, err := s.secure()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &process{s: s, role: "server", args: []string{
		"server", "-dir", filepath.Join(s.dir, "nats"), "-listen", s.address, "-sync", "10s",
	}}
	if err := server.start(ctx); err != nil {
		return "", err
	}
	defer server.kill()
	conn, err := dial(ctx, "tls://"+s.address, opts...)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	store, err := natsfleet.Open(ctx, conn, natsfleet.Config{Lifetime: s.lifetime})
	if err != nil {
		return "", err
	}
	all := []*process{server, {s: s, role: "hooks", args: []string{"hooks"}}}
	for i := range s.workers {
		all = append(all, &process{s: s, role: fmt.Sprint("w", i+1), args: []string{
			"worker", "-slots", "8", "-ledger", s.ledger, "-takes", s.takes.String(), "-hooks", "hooks.fleet",
			"-tenant-calls", "100000", "-small-calls", fmt.Sprint(s.limit),
		}})
	}
	for _, p := range all[1:] {
		if err := p.start(ctx); err != nil {
			return "", err
		}
		defer p.kill()
	}
	begun := time.Now()
	results, err := s.play(ctx, store, all)
	if err != nil {
		return "", err
	}
	return s.check(ctx, store, results, time.Since(begun))
}

// The user of the servers that chaos and throughput start.
const user, password = "fleet", "of the storm"

// secure gives each process a certificate and a password, and returns the options of a connection that has both. The
// server accepts nobody without them.
func (s *storm) secure() ([]nats.Option, error) {
	cert, key, err := selfSigned(s.dir)
	if err != nil {
		return nil, err
	}
	s.env = append(os.Environ(), "FLEET_SERVER=tls://"+s.address, "FLEET_USER="+user, "FLEET_PASSWORD="+password,
		"FLEET_TLS_CA="+cert, "FLEET_TLS_CERT="+cert, "FLEET_TLS_KEY="+key)
	return []nats.Option{nats.Password(user, password), nats.RootCA(cert), nats.ClientCert(cert, key)}, nil
}

// dial connects to a server that may still be starting.
func dial(ctx context.Context, url string, opts ...nats.Option) (*nats.Conn, error) {
	opts = append(opts, nats.OnError(func(error) {}))
	for {
		conn, err := nats.Connect(url, opts...)
		if err == nil {
			return conn, nil
		}
		if slept := (agent.SystemClock{}).Sleep(ctx, 50*time.Millisecond); slept != nil {
			return nil, errors.Join(slept, err)
		}
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func (s *storm) task(i int) fleet.Task {
	tenant := fmt.Sprint("tenant", i%3)
	if i%10 == 9 {
		tenant = "small"
	}
	return fleet.Task{
		ID: fmt.Sprintf("run%d", i), Agent: "clerk", Tenant: tenant,
		Text: fmt.Sprintf("pay %d orders, %d at a time", s.orders, s.together),
	}
}

// play submits the runs, answers their questions and kills processes, until all runs have ended.
func (s *storm) play(ctx context.Context, store fleet.Store, all []*process) (map[string]fleet.Result, error) {
	var (
		clients sync.WaitGroup
		mu      sync.Mutex
		errs    []error
		results = make(map[string]fleet.Result)
	)
	client := fleet.NewClient(store)
	client.Name = "person"
	for i := range s.runs {
		clients.Go(func() {
			result, err := s.follow(ctx, client, s.task(i))
			mu.Lock()
			defer mu.Unlock()
			results[s.task(i).ID] = result
			errs = append(errs, err)
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		clients.Wait()
	}()
	err := s.strike(ctx, all, over)
	<-over
	return results, errors.Join(append(errs, err)...)
}

// strike kills processes until the runs are over.
func (s *storm) strike(ctx context.Context, all []*process, over <-chan struct{}) error {
	for n := 0; ; n++ {
		wait := time.NewTimer(rand.N(2 * s.every))
		select {
		case <-over:
			wait.Stop()
			if n < s.kills {
				return fmt.Errorf("the runs ended after %d of %d kills; give more or longer runs", n, s.kills)
			}
			return nil
		case <-ctx.Done():
			wait.Stop()
			return ctx.Err()
		case <-wait.C:
		}
		victim := all[2+rand.IntN(len(all)-2)]
		switch {
		case n%8 == 3:
			victim = all[0]
		case n%4 == 1:
			victim = all[1]
		}
		victim.kill()
		s.add("killed " + strings.TrimRight(victim.role, "0123456789"))
		if victim == all[0] {
			_ = agent.SystemClock{}.Sleep(ctx, rand.N(3*time.Second)) // the loop notices that ctx is done
		}
		if err := victim.start(ctx); err != nil {
			return err
		}
	}
}

// follow submits a task, answers the questions of its run and returns its result.
func (s *storm) follow(ctx context.Context, c *fleet.Client, task fleet.Task) (fleet.Result, error) {
	for c.Submit(ctx, task) != nil {
		if err := (agent.SystemClock{}).Sleep(ctx, 100*time.Millisecond); err != nil {
			return fleet.Result{}, err
		}
	}
	for {
		status, err := c.WaitFor(ctx, task.ID, func(s fleet.Status) bool {
			return s.State.Final() || len(s.Questions) > 0
		})
		if err != nil {
			return fleet.Result{}, err
		}
		if status.State.Final() {
			return *status.Result, nil
		}
		for _, q := range status.Questions {
			answer, ok, err := s.answer(q)
			if err != nil {
				return fleet.Result{}, err
			}
			if ok && c.Answer(ctx, task.ID, answer) == nil {
				s.add("answered by a person")
				break // the run continues, and asks again about its other calls
			}
		}
		if err := (agent.SystemClock{}).Sleep(ctx, 100*time.Millisecond); err != nil {
			return fleet.Result{}, err
		}
	}
}

// answer looks into the ledger whether a call was made. As long as its worker lives, the call may still happen.
func (s *storm) answer(q fleet.Question) (fleet.Answer, bool, error) {
	if !q.Doubt {
		return fleet.Answer{}, false, fmt.Errorf("an unexpected question: %+v", q)
	}
	s.mu.Lock()
	alive := s.alive[q.Worker]
	s.mu.Unlock()
	lines, err := countLines(s.ledger)
	if err != nil {
		return fleet.Answer{}, false, err
	}
	for order, n := range lines {
		if n > 0 && strings.Contains(string(q.Call.Args), `"`+order+`"`) {
			return fleet.Happened(q, "paid "+order, "person"), true, nil
		}
	}
	return fleet.Retry(q, "person"), !alive, nil
}

// countLines returns how often each line is in a file. A missing file has none.
func countLines(name string) (map[string]int, error) {
	f, err := os.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	count := make(map[string]int)
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		count[lines.Text()]++
	}
	return count, lines.Err()
}

// check compares the logs, the ledger and the accounts with the promises.
func (s *storm) check(
	ctx context.Context, store fleet.Store, results map[string]fleet.Result, took time.Duration,
) (table string, _ error) {
	var broken []error
	bad := func(format string, args ...any) { broken = append(broken, fmt.Errorf(format, args...)) }
	paid, err := countLines(s.ledger)
	if err != nil {
		return "", err
	}
	models, err := countLines(s.ledger + ".models")
	if err != nil {
		return "", err
	}
	client := fleet.NewClient(store)
	states, kinds, claims, effects, doubled := make(map[fleet.State]int), make(map[string]int), 0, 0, 0
	for i := range s.runs {
		task := s.task(i)
		result := results[task.ID]
		states[result.State]++
		claims += result.Claims
		events, err := client.History(ctx, task.ID)
		if err != nil && !errors.Is(err, fleet.ErrNotFound) {
			return "", err
		}
		ends := 0
		for _, e := range events {
			kinds[e.Kind]++
			if e.Kind == "ended" {
				ends++
			}
			if e.Kind == "answered" && e.By != "person" {
				s.add("answered by a worker")
			}
		}
		if ends != 1 {
			bad("%s has ended %d times", task.ID, ends)
		}
		for n := range s.orders {
			order := fmt.Sprintf("%s-%d", task.ID, n+1)
			effects += paid[order]
			if paid[order] > 1 {
				doubled++
				bad("%s was paid %d times", order, paid[order])
			}
			if result.State == fleet.Done && paid[order] != 1 {
				bad("%s is done, and %s was paid %d times: %+v", task.ID, order, paid[order], result)
			}
		}
		spent := result.State == fleet.Failed && strings.Contains(result.Err, fleet.ErrSpent.Error())
		if result.State != fleet.Done && !(spent && task.Tenant == "small") {
			bad("%s: %+v", task.ID, result)
		}
	}
	balance, err := client.Balance(ctx, "tenant small")
	if err != nil {
		return "", err
	}
	if models["small"] > s.limit || balance.Total().Calls > s.limit || balance.Total().Calls < models["small"] {
		bad("the tenant small made %d calls of the model, its account has %d, and its limit is %d", models["small"],
			balance.Total().Calls, s.limit)
	}
	row := func(of string, value any) { table += fmt.Sprintf("| %s | %v |\n", of, value) }
	table = "| what | figure |\n|---|---:|\n"
	row("worker processes", s.workers)
	row("runs", s.runs)
	row("runs that ended exactly once", kinds["ended"])
	row("runs that are done", states[fleet.Done])
	row("runs that their tenant's account has stopped", states[fleet.Failed])
	row("payments", effects)
	row("payments that were made twice", doubled)
	row(fmt.Sprintf("model calls of the bounded tenant, limit %d", s.limit), models["small"])
	row("time", took.Round(time.Second))
	for _, what := range slices.Sorted(maps.Keys(s.count)) {
		row(what, s.count[what])
	}
	row("claims of workers", claims)
	row("runs that were suspended for a call in doubt", kinds["suspended"])
	return table, errors.Join(broken...)
}
