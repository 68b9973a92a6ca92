// Package embedded runs a NATS server with JetStream inside a program. The server has no port unless the program asks
// for one. It adds 15 MB to a program, so only programs that run a server import the package.
//
//	server, err := embedded.Start("/var/lib/agent")
//	...
//	defer server.Close()
//	conn, err := nats.Connect(server.URL())
package embedded

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/hookgen/hookgen/contrib/nats/internal/inprocess"
)

// An Option is an option of [Start].
type Option interface{ apply(*settings) }

type option func(*settings)

func (o option) apply(s *settings) { o(s) }

// settings hold the values of the options.
type settings struct {
	config    string
	maxBytes  int64
	syncEvery time.Duration // 0: always, unless the configuration says otherwise
}

// DefaultMaxBytes is the default of [MaxBytes].
const DefaultMaxBytes = 16 << 30

// MaxBytes bounds the files of the server. Buckets and streams set their bytes aside when they are made, and one that
// does not fit is refused. The default is [DefaultMaxBytes]. It panics unless n is positive.
func MaxBytes(n int64) Option {
	if n <= 0 {
		panic("embedded: MaxBytes needs a positive number")
	}
	return option(func(s *settings) { s.maxBytes = n })
}

// SyncEvery makes changes survive a power failure only if they are older than d. Without it, each change is on the disk
// when its call returns. In both cases a change survives the end of the process, also by kill -9. It panics unless d is
// positive.
func SyncEvery(d time.Duration) Option {
	if d <= 0 {
		panic("embedded: SyncEvery needs a positive duration")
	}
	return option(func(s *settings) { s.syncEvery = d })
}

// Config reads a configuration file of nats-server, for example to listen for other processes. Connections of this
// process authenticate as the others do. Start refuses a file without users, and one that listens without TLS for other
// machines. It sets the directory of the server, whatever the file says.
func Config(file string) Option { return option(func(s *settings) { s.config = file }) }

// A Server is a running server.
type Server struct {
	url    string
	server *natsserver.Server
	unlock func()
}

// maxPayload is the length of a message, for example of a stored conversation, unless the configuration says otherwise.
const maxPayload = 8 << 20

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
	var set settings
	for _, o := range opts {
		o.apply(&set)
	}
	o, err := set.options()
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, errors.New("the directory has no name; give one")
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	files := filepath.Join(dir, natsserver.JetStreamStoreDir)
	if err := os.MkdirAll(files, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(files, 0o700); err != nil {
		return nil, err
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			unlock()
		}
	}()
	o.StoreDir = dir
	server, err := natsserver.NewServer(o)
	if err != nil {
		return nil, err
	}
	s := &Server{url: inprocess.Scheme + filepath.ToSlash(dir), server: server, unlock: unlock}
	if !inprocess.Add(s.url, server) {
		return nil, errors.New("this process already has a server in the directory; use its URL")
	}
	failed := make(problems, 1)
	if o.LogFile == "" {
		server.SetLoggerV2(failed, false, false, false)
	} else {
		server.ConfigureLogger()
	}
	go server.Start()
	ready := make(chan bool, 1)
	go func() { ready <- server.ReadyForConnections(startTimeout) }()
	select {
	case ok := <-ready:
		if ok {
			return s, nil
		}
		err = fmt.Errorf("it is not ready after %v", startTimeout)
	case err = <-failed:
	}
	s.stop()
	return nil, err
}

// options returns the options of the server.
func (s settings) options() (*natsserver.Options, error) {
	o := &natsserver.Options{DontListen: true}
	if s.config != "" {
		var err error
		if o, err = natsserver.ProcessConfigFile(s.config); err != nil {
			return nil, fmt.Errorf("the configuration: %w", err)
		}
		if err := safe(o); err != nil {
			return nil, fmt.Errorf("the configuration %s: %w", s.config, err)
		}
	}
	o.JetStream, o.NoSigs, o.DisableJetStreamBanner = true, true, true
	o.NoLog = o.LogFile == ""
	o.ServerName = cmp.Or(o.ServerName, "embedded")
	o.MaxPayload = cmp.Or(o.MaxPayload, maxPayload)
	o.JetStreamMaxStore = cmp.Or(s.maxBytes, max(o.JetStreamMaxStore, 0), DefaultMaxBytes)
	if o.JetStreamMaxMemory <= 0 {
		o.JetStreamMaxMemory = 64 << 20
	}
	switch {
	case s.syncEvery > 0:
		o.SyncAlways, o.SyncInterval = false, s.syncEvery
	case o.SyncInterval == 0:
		o.SyncAlways = true
	}
	return o, nil
}

// safe returns an error if a server would let strangers in, as clients or as servers of its cluster.
func safe(o *natsserver.Options) error {
	switch cluster := o.Cluster; {
	case o.DontListen:
	case o.Username == "" && o.Authorization == "" && len(o.Users) == 0 && len(o.Nkeys) == 0 &&
		len(o.TrustedOperators) == 0 && !o.TLSMap:
		return errors.New("it has no users, so that everybody could connect; add an authorization block")
	case !local(o.Host) && o.TLSConfig == nil:
		return errors.New("it listens for other machines without TLS; add a tls block, or listen on 127.0.0.1")
	case cluster.Port != 0 && cluster.Username == "" && cluster.TLSConfig == nil:
		return errors.New("its cluster would accept every server; add a tls or authorization block to the cluster block")
	case cluster.Port != 0 && !local(cluster.Host) && cluster.TLSConfig == nil:
		return errors.New("its cluster listens for other machines without TLS; add a tls block to the cluster block")
	}
	for _, l := range []struct {
		block, host string
		port        int
		tls         bool
	}{
		{"websocket", o.Websocket.Host, o.Websocket.Port, o.Websocket.TLSConfig != nil && !o.Websocket.NoTLS},
		{"mqtt", o.MQTT.Host, o.MQTT.Port, o.MQTT.TLSConfig != nil},
		{"leafnodes", o.LeafNode.Host, o.LeafNode.Port, o.LeafNode.TLSConfig != nil},
		{"gateway", o.Gateway.Host, o.Gateway.Port, o.Gateway.TLSConfig != nil},
		{"http", o.HTTPHost, o.HTTPPort, false},
		{"prof_port", o.Host, o.ProfPort, false},
	} {
		if l.port != 0 && !l.tls && !local(l.host) {
			return fmt.Errorf("%s listens for other machines without TLS; add TLS to it, or let it listen on 127.0.0.1", l.block)
		}
	}
	return nil
}

// local reports whether only this machine can reach an address.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// URL returns the URL of the server for nats.Connect in this process. A server that is started again in the same
// directory has the same URL.
func (s *Server) URL() string { return s.url }

// ListenURL returns the URL of the server for nats.Connect in other processes, or "" if it does not listen.
func (s *Server) ListenURL() string {
	if s.server.Addr() == nil {
		return ""
	}
	return s.server.ClientURL()
}

// Close stops the server and waits for its end. Its connections are lost. It returns nil.
func (s *Server) Close() error {
	s.stop()
	return nil
}

func (s *Server) stop() {
	s.server.Shutdown()
	s.server.WaitForShutdown()
	inprocess.Remove(s.url)
	s.unlock()
}
