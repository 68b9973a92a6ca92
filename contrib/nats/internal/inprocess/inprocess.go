// Package inprocess lets a connection find a server of its own process by its URL, so that a program which only
// connects does not link the server.
package inprocess

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
)

// Scheme begins the URL of each server of this process.
const Scheme = "embedded:"

// A Server accepts connections without a network.
type Server interface {
	InProcessConn() (net.Conn, error)
}

var (
	mu      sync.Mutex
	servers = map[string]Server{}
)

// Add makes a server known under a URL. It reports false if another server has the URL.
func Add(url string, s Server) bool {
	mu.Lock()
	defer mu.Unlock()
	if servers[url] != nil {
		return false
	}
	servers[url] = s
	return true
}

// Remove forgets the server of a URL.
func Remove(url string) {
	mu.Lock()
	defer mu.Unlock()
	delete(servers, url)
}

// A Dialer connects to the server that has its URL at the time of the call. A server that was started again on the same
// directory has the same URL, so connections reach it.
type Dialer string

// IsURL reports whether a URL names a server of this process.
func IsURL(url string) bool { return strings.HasPrefix(url, Scheme) }

// Known returns an error if no server has the URL.
func (d Dialer) Known() error {
	mu.Lock()
	defer mu.Unlock()
	if servers[string(d)] == nil {
		return fmt.Errorf("no server of this process has the URL %q; start it with embedded.Start and use its URL", string(d))
	}
	return nil
}

// InProcessConn connects to the server.
func (d Dialer) InProcessConn() (net.Conn, error) {
	mu.Lock()
	s := servers[string(d)]
	mu.Unlock()
	if s == nil {
		return nil, errors.New("the embedded server has stopped")
	}
	return s.InProcessConn()
}
