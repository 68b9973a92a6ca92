package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"
)

// serve runs a NATS server until ctx is done.
func (p *program) serve(ctx context.Context, args []string) error {
	dir := p.flags.String("dir", "", "the `directory` of the server's files")
	listen := p.flags.String("listen", "127.0.0.1:4222", "the `address` of the server")
	sync := p.flags.Duration("sync", 0, "write to the disk at least so often; 0: after each change")
	if err := p.parse(args, 0, 0); err != nil {
		return err
	}
	server, err := p.newServer(*dir, *listen, *sync)
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "listening on %s\n", server.Addr())
	<-ctx.Done()
	server.Shutdown()
	server.WaitForShutdown()
	return nil
}

// newServer starts a server. With -user it asks for the password, and with -tls-cert and -tls-key it accepts TLS only.
func (p *program) newServer(dir, listen string, sync time.Duration) (*natsserver.Server, error) {
	if dir == "" {
		return nil, errors.New("-dir is empty; name a directory")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	host, text, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, fmt.Errorf("-listen: %w", err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return nil, fmt.Errorf("-listen: the port %q is not a number", text)
	}
	if port == 0 {
		port = natsserver.RANDOM_PORT
	}
	o := &natsserver.Options{
		ServerName: "fleet", Host: host, Port: port, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir,
		JetStreamMaxStore: 16 << 30, JetStreamMaxMemory: 64 << 20, SyncAlways: sync == 0, SyncInterval: sync,
		Username: *p.user, Password: p.env("FLEET_PASSWORD"),
	}
	loopback := net.ParseIP(host)
	if *p.user == "" && (loopback == nil || !loopback.IsLoopback()) {
		return nil, fmt.Errorf("the server would accept everybody who can reach %s; set -user and FLEET_PASSWORD", listen)
	}
	if *p.cert != "" {
		o.TLS = true
		if o.TLSConfig, err = natsserver.GenTLSConfig(&natsserver.TLSConfigOpts{
			CertFile: *p.cert, KeyFile: *p.key, CaFile: *p.ca, Verify: *p.ca != "",
		}); err != nil {
			return nil, err
		}
	}
	server, err := natsserver.NewServer(o)
	if err != nil {
		return nil, err
	}
	go server.Start()
	if !server.ReadyForConnections(time.Minute) {
		server.Shutdown()
		return nil, fmt.Errorf("the server at %s is not ready after a minute", listen)
	}
	return server, nil
}
