// Command gateway is a reverse proxy whose plug-ins decide about each request. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	config := flag.String("config", "gateway.json", "read the configuration from `FILE`, again at SIGHUP")
	check := flag.Bool("check", false, "check the configuration, and start nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *config, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, file string, check bool) error {
	config, err := readConfig(file)
	if err != nil || check {
		return err
	}
	g := NewGateway(http.DefaultTransport)
	if err := g.Reload(ctx, file); err != nil {
		return err
	}
	defer g.Close()
	listener, err := net.Listen("tcp", config.Listen)
	if err != nil {
		return err
	}
	slog.Info("the gateway listens", "address", listener.Addr().String())
	return g.serve(ctx, listener, file)
}

// serve answers requests until the context ends, and reloads at SIGHUP.
func (g *Gateway) serve(ctx context.Context, listener net.Listener, file string) error {
	server := &http.Server{Handler: g, ReadHeaderTimeout: 10 * time.Second}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	for {
		select {
		case <-hangup:
			if err := g.Reload(ctx, file); err != nil {
				slog.Error("the configuration is not changed", "error", err)
			} else {
				slog.Info("the configuration is changed")
			}
		case err := <-ended:
			return err
		case <-ctx.Done():
			grace, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := server.Shutdown(grace); err != nil {
				return err
			}
			if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
				return err
			}
			return nil
		}
	}
}
