package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/hookgen/hookgen/contrib/nats/embedded"
)

// serve runs a NATS server until ctx is done.
func (p *program) serve(ctx context.Context, args []string) error {
	dir := p.flags.String("dir", "", "the `directory` of the server's files")
	listen := p.flags.String("listen", "127.0.0.1:4222", "the `address` of the server")
	sync := p.flags.Duration("sync", 0, "write to the disk at least so often; 0: after each change")
	if err := p.parse(args, 0, 0); err != nil {
		return err
	}
	if *p.user == "" || p.env("FLEET_PASSWORD") == "" {
		return errors.New("everybody could use the server; set -user and FLEET_PASSWORD")
	}
	var options []embedded.Option
	if *sync > 0 {
		options = append(options, embedded.SyncEvery(*sync))
	}
	config, err := p.serverConfig(*listen)
	if err != nil {
		return err
	}
	server, err := embedded.Start(*dir, append(options, embedded.Config(config))...)
	if err := errors.Join(err, os.Remove(config)); err != nil {
		return err
	}
	fmt.Fprintf(p.out, "listening on %s\n", server.ListenURL())
	<-ctx.Done()
	return server.Close()
}

// serverConfig writes a configuration file of nats-server. It has the password, so it does not stay. With -tls-cert and
// -tls-key, the server accepts TLS only, and with -tls-ca only clients with a certificate.
func (p *program) serverConfig(listen string) (file string, err error) {
	text := fmt.Sprintf("listen: %q\nauthorization { user: %q, password: %q }\n", listen, *p.user,
		p.env("FLEET_PASSWORD"))
	if *p.cert != "" {
		text += fmt.Sprintf("tls { cert_file: %q, key_file: %q", *p.cert, *p.key)
		if *p.ca != "" {
			text += fmt.Sprintf(", ca_file: %q, verify: true", *p.ca)
		}
		text += " }\n"
	}
	f, err := os.CreateTemp("", "fleet-*.conf") // only its owner can read it
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(text)
	return f.Name(), errors.Join(err, f.Close())
}
