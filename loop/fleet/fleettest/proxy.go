package fleettest

import (
	"net"
	"sync"
	"testing"
	"time"
)

// A Proxy is a network between a server and a process. Connect the process to Address instead of the server, and part
// them with [Proxy.Partition]. Make one with [NewProxy].
type Proxy struct {
	Address string // host and port

	server string
	closed chan struct{}
	net    sync.RWMutex // locked during a partition
	mu     sync.Mutex
	conns  map[net.Conn]bool
}

// NewProxy returns a proxy of the server at an address. It is closed at the end of the test.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{
		Address: listener.Addr().String(), server: server, closed: make(chan struct{}), conns: make(map[net.Conn]bool),
	}
	var passing sync.WaitGroup
	passing.Go(func() { p.serve(listener, &passing) })
	t.Cleanup(func() {
		close(p.closed)
		_ = listener.Close() // it fails only if it is closed
		p.cut()
		passing.Wait()
	})
	return p
}

// Partition lets nothing pass for a while, and then breaks all connections. New ones are taken.
func (p *Proxy) Partition(d time.Duration) {
	p.net.Lock()
	defer p.net.Unlock()
	select {
	case <-p.closed:
	case <-time.After(d):
	}
	p.cut()
}

// cut breaks all connections.
func (p *Proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close() // the other end may have closed it
		delete(p.conns, c)
	}
}

func (p *Proxy) serve(listener net.Listener, passing *sync.WaitGroup) {
	for {
		near, err := listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = near.Close() // the process connects again
			continue
		}
		p.mu.Lock()
		p.conns[near], p.conns[far] = true, true
		p.mu.Unlock()
		passing.Go(func() { p.pass(near, far) })
		passing.Go(func() { p.pass(far, near) })
	}
}

// pass sends the bytes of one end to the other, until one of them is closed.
func (p *Proxy) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		p.net.RLock()
		if err == nil {
			_, err = to.Write(data[:n])
		}
		p.net.RUnlock()
		if err != nil {
			return
		}
	}
}
