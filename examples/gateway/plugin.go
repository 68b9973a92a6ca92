package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/hookgen/hookgen/contrib/wasm"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/hookkit/wire"
	"github.com/hookgen/hookgen/hookkit/wire/wireexec"

	"example.com/gateway/points"
)

// A set is the plug-ins of one configuration. It is one hook, so that one registration replaces all of them at once.
type set []plugin

// A plugin is a started plug-in.
type plugin struct {
	PluginConfig
	hook   points.Hook
	closer io.Closer // nil for a plug-in in this process
}

// compiled has the guests that were compiled, so that a reload does not compile them again.
var compiled = wazero.NewCompilationCache()

// openAll starts the plug-ins of a configuration. After an error, none runs.
func openAll(ctx context.Context, c *Config) (set, error) {
	var all set
	var failed []error
	for _, config := range c.Plugins {
		p, err := open(ctx, config, c.dir)
		if err != nil {
			failed = append(failed, fmt.Errorf("the plug-in %q does not start: %w", config.Name, err))
			continue
		}
		all = append(all, p)
	}
	if len(failed) > 0 {
		return nil, errors.Join(append(failed, all.Close())...)
	}
	return all, nil
}

func open(ctx context.Context, c PluginConfig, dir string) (p plugin, err error) {
	p.PluginConfig = c
	var caller interface {
		wire.Caller
		io.Closer
	}
	switch {
	case c.Go != "":
		p.hook = native[c.Go]()
		return p, nil
	case c.Wasm != "":
		module, err := os.ReadFile(filepath.Join(dir, c.Wasm))
		if err != nil {
			return p, err
		}
		caller, err = wasm.New(module, wasm.Name(c.Name), wasm.Timeout(c.timeout), wasm.Cache(compiled))
		if err != nil {
			return p, err
		}
	default:
		caller = wireexec.Process(c.Process, wireexec.Dir(dir), wireexec.Stderr(os.Stderr))
	}
	p.closer = caller
	if p.hook, err = points.Remote(ctx, named{caller, c.Name}, breaker); err != nil {
		return p, errors.Join(err, caller.Close())
	}
	return p, nil
}

// breaker lets a process that was killed start again at once, although each request that it was asked about failed.
var breaker = wire.Breaker(100, 200*time.Millisecond)

// A named caller has the name of its plug-in in errors and records.
type named struct {
	wire.Caller
	name string
}

func (n named) String() string { return n.name }

// Bind registers the plug-ins in the order of the configuration, each for its routes.
func (s set) Bind(h *points.Hooks) {
	for _, p := range s {
		options := []hookkit.UseOption{hookkit.Named(p.Name)}
		if p.closer != nil { // with a time limit, a plug-in around the exchange would end long responses
			options = append(options, hookkit.Timeout(p.timeout))
		}
		if len(p.Routes) > 0 {
			options = append(options, points.ForRoute(p.Routes...))
		}
		h.Use(p.hook, options...)
	}
}

// Close ends the plug-ins.
func (s set) Close() error {
	var all []error
	for _, p := range s {
		if p.closer != nil {
			all = append(all, p.closer.Close())
		}
	}
	return errors.Join(all...)
}
