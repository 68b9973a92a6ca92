// Package embedded runs a NATS server with JetStream inside a program. The server has no port unless the program asks
// for one. It adds 25 MB to a program, so only programs that run a server import the package.
//
//	server, err := embedded.Start("/var/lib/agent")
//	...
//	defer server.Close()
//	conn, err := nats.Connect(server.URL())
package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/hookgen/hookgen/contrib/nats/internal/inprocess"
)

// An Option is an option of [Start].
type Option interface{ apply(*natsserver.Options) }

type option func(*natsserver.Options)

func (o option) apply(s *natsserver.Options) { o(s) }

// DefaultMaxBytes is the default of [MaxBytes].
const DefaultMaxBytes = 16 << 30

// MaxBytes bounds the files of the server. Buckets and streams set their bytes aside when they are made, and one that
// does not fit is refused. The default is [DefaultMaxBytes]. It panics unless n is positive.
func MaxBytes(n int64) Option {
	if n <= 0 {
		panic("embedded: MaxBytes needs a positive number")
	}
	return option(func(s *natsserver.Options) { s.JetStreamMaxStore = n })
}

// SyncEvery makes changes survive a power failure only if they are older than d. Without it, each change is on the disk
// when its call returns. In both cases a change survives the end of the process, also by kill -9. It panics unless d is
// positive.
func SyncEvery(d time.Duration) Option {
	if d <= 0 {
		panic("embedded: SyncEvery needs a positive duration")
	}
	return option(func(s *natsserver.Options) { s.SyncAlways, s.SyncInterval = false, d })
}

// A Server is a running server.
type Server struct {
	url    string
	server *natsserver.Server
}

// startTimeout limits the start of a server, which reads the files of its streams.
const startTimeout = time.Minute

// Start starts a server that keeps its files in a directory. A missing directory is made, and only its owner can read
// the files. A directory has one server at a time. Call Close at the end.
func Start(dir string, opts ...Option) (*Server, error) {
	s, err := start(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("start a NATS server in %s: %w", dir, err)
	}
	return s, nil
}

func start(dir string, opts []Option) (_ *Server, err error) {
	if dir == "" {
		return nil, errors.New("the directory has no name; give one")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	files := filepath.Join(dir, natsserver.JetStreamStoreDir)
	if err := os.MkdirAll(files, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(files, 0o700); err != nil {
		return nil, err
	}
	o := &natsserver.Options{
		ServerName: "embedded", DontListen: true, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir,
		JetStreamMaxStore: DefaultMaxBytes, JetStreamMaxMemory: 64 << 20, SyncAlways: true, DisableJetStreamBanner: true,
	}
	for _, set := range opts {
		set.apply(o)
	}
	server, err := natsserver.NewServer(o)
	if err != nil {
		return nil, err
	}
	s := &Server{url: inprocess.Scheme + filepath.ToSlash(dir), server: server}
	if !inprocess.Add(s.url, server) {
		return nil, errors.New("this process already has a server in the directory; use its URL")
	}
	go server.Start()
	if !server.ReadyForConnections(startTimeout) {
		return nil, errors.Join(fmt.Errorf("it is not ready after %v", startTimeout), s.Close())
	}
	return s, nil
}

// URL returns the URL of the server for nats.Connect in this process. A server that is started again in the same
// directory has the same URL.
func (s *Server) URL() string { return s.url }

// Close stops the server and waits for its end. Its connections are lost. It returns nil.
func (s *Server) Close() error {
	s.server.Shutdown()
	s.server.WaitForShutdown()
	inprocess.Remove(s.url)
	return nil
}
