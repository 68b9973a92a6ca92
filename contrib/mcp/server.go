package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Options are the limits and the trust of a [Server]. The zero value is the documented default.
type Options struct {
	Timeout     time.Duration // of one call; 0: 5 minutes; negative: only the context ends a call
	ConnectTime time.Duration // to start the server and to list its tools; 0: 1 minute; negative: only the context ends it
	Text        int           // bytes of text in a result; 0: 256 KiB; negative: no limit of its own
	Parts       int           // bytes of images and other parts in a result; 0: 8 MiB; negative: no limit of its own

	// TrustHints sets ReadOnly and Idempotent of the tools that the server declares to be so. Without it no tool is.
	// A hint is a claim of the server: hooks that permit only read-only tools then trust the server.
	TrustHints bool

	// Approver answers the questions that the server asks during a call (elicitation), usually the Approver of the agent.
	// Question.Tool.Parameters is the schema of the values that the server wants; Approval.Args are the values. Nil: the
	// server cannot ask. A call waits for the answer, within its Timeout.
	Approver agent.Approver
}

func (o Options) resolved() Options {
	o.Timeout = cmp.Or(o.Timeout, 5*time.Minute)
	o.ConnectTime = cmp.Or(o.ConnectTime, time.Minute)
	o.Text, o.Parts = cmp.Or(o.Text, 256<<10), cmp.Or(o.Parts, 8<<20)
	return o
}

// Bounds on the data of a server.
const (
	maxMessage     = 16 << 20 // bytes of one message
	maxTools       = 1000
	maxPages       = 100 // of the list of tools
	maxDescription = 8 << 10
	maxSchema      = 64 << 10
	maxWarnings    = 50
	maxProblem     = 1000 // bytes of a text in an error
	maxStage       = 200  // bytes of a progress report
)

// stuck is the time for a server to read a request whose caller has left. After it the connection is closed, because
// later calls would wait for the same server.
var stuck = 5 * time.Second // a variable for the tests

// ErrClosed is the error of calls after Close. The errors of tools wrap it.
var ErrClosed = errors.New("the connection to the MCP server is closed")

// A Server is a connection to an MCP server. Make one with [Connect] and end it with Close. It is safe for concurrent
// use.
//
// If the server dies, the calls that wait for it fail, and the next call of a tool starts it again or connects again.
// A call is never sent twice, because the server may have acted before it died.
type Server struct {
	name   string
	to     Transport
	opts   Options
	secret *strings.Replacer
	client *sdk.Client

	life       context.Context // ends with Close
	end        context.CancelFunc
	dialing    chan struct{} // holds a value while somebody connects
	relist     chan struct{} // has a value when the tools may have changed
	questions  chan struct{} // has a value for each question that waits for a person
	background sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	conn     *connection // nil before the first one
	tools    []*tool
	first    map[string]agent.ToolSchema // of the tools, when they were first listed
	warnings []string
	reports  map[string]*reporter // of the running calls, by progress token
	tokens   int
}

var legalServer = regexp.MustCompile(`^[a-zA-Z](_?[a-zA-Z0-9-])*$`)

// Connect connects to the server and lists its tools. The context ends only the attempt to connect; end the connection
// with Close.
//
// The name begins the names of the tools: the tool read_file of the server "files" is called files__read_file. It needs
// to be unique among the servers of an agent. It has at most 32 letters, digits, hyphens and single underscores, and
// begins with a letter. No server can therefore use the names of another one.
func Connect(ctx context.Context, name string, to Transport, opts Options) (*Server, error) {
	if !legalServer.MatchString(name) || len(name) > maxServerName {
		return nil, fmt.Errorf("mcp: the name %q of a server; use at most %d letters, digits, hyphens and single "+
			"underscores, beginning with a letter", name, maxServerName)
	}
	if to == nil {
		return nil, fmt.Errorf("mcp: the server %s has no transport; use a Command, an HTTP or an InProcess", name)
	}
	s := &Server{
		name: name, to: to, opts: opts.resolved(), secret: redactor(to.secrets()),
		dialing: make(chan struct{}, 1), relist: make(chan struct{}, 1),
		reports: make(map[string]*reporter), questions: make(chan struct{}, maxQuestions),
		first: make(map[string]agent.ToolSchema),
	}
	var elicit func(context.Context, *sdk.ElicitRequest) (*sdk.ElicitResult, error) // nil: the server cannot ask
	if opts.Approver != nil {
		elicit = s.elicit
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.client = sdk.NewClient(&sdk.Implementation{Name: "hookgen", Version: "v1"}, &sdk.ClientOptions{
		Capabilities:       opts.capabilities(),
		MultiRoundTrip:     &sdk.MultiRoundTripOptions{Disabled: opts.Approver == nil},
		ElicitationHandler: elicit,
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {
			s.toolsChanged()
		},
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			s.report(req.Params)
		},
	})
	ctx, cancel := s.within(ctx, s.opts.ConnectTime)
	defer cancel()
	conn, err := s.connection(ctx)
	if err == nil {
		err = s.list(ctx, conn)
	}
	if err != nil {
		err = fmt.Errorf("mcp: %w", s.failure(ctx, conn, "connecting to", err))
		return nil, errors.Join(err, s.Close())
	}
	s.background.Go(s.follow)
	return s, nil
}

// Name returns the name given to Connect.
func (s *Server) Name() string { return s.name }

// Format writes the name of the server and of its program or host for every verb, without keys.
func (s *Server) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "MCP server %s (%v)", s.name, s.to) }

// Tools returns the tools that the server has now. Each is an [agent.OutputTool] and an [agent.TimedTool].
func (s *Server) Tools() []agent.Tool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]agent.Tool, len(s.tools))
	for i, t := range s.tools {
		all[i] = t
	}
	return all
}

// Warnings returns the problems of the last list of tools: those that were left out because no agent could use them,
// and those that have changed since they were first listed. For example, a server that was approved yesterday describes
// its tools in another way today, so that the model sends it more.
func (s *Server) Warnings() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.warnings)
}

// Updates returns a hook that adds the tools that the server gained after the run began, at the next step. Without it
// a run keeps the tools with which it began.
func (s *Server) Updates() agent.Hook { return updates{s} }

type updates struct{ server *Server }

// Bind adds the hook under the name of the method.
func (u updates) Bind(h *agent.Hooks) { h.BeforeStep.Add(u, hookkit.Named("mcp.Updates")) }

// BeforeStep adds the tools that the run does not have.
func (u updates) BeforeStep(_ context.Context, run *agent.Run, _ agent.Step) error {
	if run.Env == nil || run.Env.Tools == nil {
		return nil
	}
	var errs []error
	for _, t := range u.server.Tools() {
		if _, known := run.Env.Tools.Lookup(t.Schema().Name); !known {
			errs = append(errs, run.Env.Tools.Add(t))
		}
	}
	return errors.Join(errs...)
}

// Close ends the connection. Calls that are running fail. A child process has 2 seconds to end when its input ends, and
// 2 more after the signal to terminate; then it is killed with its children.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.dialing <- struct{}{} // wait for an attempt to connect
	defer func() { <-s.dialing }()
	s.mu.Lock()
	conn := s.conn
	s.mu.Unlock()
	var err error
	if conn != nil {
		err = conn.close()
	}
	s.background.Wait()
	return err
}

// clean returns a text from outside without the secrets of the transport, as valid UTF-8 of at most the given bytes.
func (s *Server) clean(text string, most int) string { return bounded(s.secret.Replace(text), most) }

// bounded returns a text as valid UTF-8 of about at most the given bytes.
func bounded(text string, most int) string {
	if len(text) > most {
		text = text[:most] + "..."
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
