package nats_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	client "github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/hookgen/hookgen/contrib/nats"
	"github.com/hookgen/hookgen/contrib/nats/embedded"
	"github.com/hookgen/hookgen/contrib/nats/internal/servertest"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// certificate writes a certificate for 127.0.0.1 that signs itself, and its key.
func certificate(t *testing.T, dir string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	text, failed := x509.MarshalPKCS8PrivateKey(private)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	err = errors.Join(err, failed,
		os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: text}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// roles are the users of server.conf.
var roles = []string{"admin", "hooks", "worker", "reader", "fleet_worker", "fleet_client"}

// secured sets the environment of server.conf, and returns a function that connects as a role.
func secured(t *testing.T) (connectAs func(t *testing.T, url, role string, opts ...nats.Option) *nats.Conn) {
	t.Helper()
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	t.Setenv("NATS_CERT", cert)
	t.Setenv("NATS_KEY", key)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("NATS_LISTEN", l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, role := range roles {
		pair, err := nkeys.CreateUser()
		if err != nil {
			t.Fatal(err)
		}
		seed, err := pair.Seed()
		public, failed := pair.PublicKey()
		if err = errors.Join(err, failed, os.WriteFile(filepath.Join(dir, role+".nk"), seed, 0o600)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("NATS_"+strings.ToUpper(role), public)
	}
	return func(t *testing.T, url, role string, opts ...nats.Option) *nats.Conn {
		t.Helper()
		return connect(t, url, append([]nats.Option{
			nats.NKey(filepath.Join(dir, role+".nk")), nats.RootCA(cert), nats.Inbox("_INBOX_" + role),
			nats.Timeout(10 * time.Second),
		}, opts...)...)
	}
}

// TestAKilledServerLosesNothing kills a server in a process of its own, with TLS and NKeys, while a worker writes. The
// worker's connection finds the next server, which has every change that was acknowledged.
func TestAKilledServerLosesNothing(t *testing.T) {
	connectAs := secured(t)
	dir := t.TempDir()
	server := servertest.Start(t, dir, "server.conf")
	if !strings.HasPrefix(server.URL, "tls://") {
		t.Errorf("the URL is %s", server.URL)
	}
	admin := connectAs(t, server.URL, "admin")
	_, err := admin.Bucket(t.Context(), "agents", nats.Limits{})
	_, failed := admin.Events(t.Context(), "agents", nats.EventLimits{})
	if err = errors.Join(err, failed, admin.Close()); err != nil {
		t.Fatal(err)
	}
	var seen reports
	worker := connectAs(t, server.URL, "worker", seen.option())
	b, err := worker.Bucket(t.Context(), "agents", nats.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	events, err := worker.Events(t.Context(), "agents", nats.EventLimits{})
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]int{}
	revision, sum, recorded := uint64(0), 0, []int64{}
	for round := range 4 {
		var all sync.WaitGroup
		stop := make(chan struct{})
		began := make(chan struct{}, 100_000)
		all.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				key := fmt.Sprintf("r%d/%d", round, i)
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				if _, err := b.Put(ctx, key, []byte(strings.Repeat("x", i*1000))); err == nil {
					acknowledged[key] = i * 1000
				}
				if r, err := b.Put(ctx, "n", strconv.AppendInt(nil, int64(i), 10)); err == nil {
					revision, sum = r, i
				}
				if events.WriteEvent(ctx, event("a", int64(round*1000+i))) == nil {
					recorded = append(recorded, int64(round*1000+i))
				}
				cancel()
				began <- struct{}{}
			}
		})
		for range 5 + 3*round {
			<-began
		}
		server.Kill(t)
		close(stop)
		server = servertest.Start(t, dir, "server.conf")
		all.Wait()
	}
	seen.wait(t, "the connection is lost")
	for key, n := range acknowledged {
		if e, err := b.Get(t.Context(), key); err != nil || len(e.Value) != n {
			t.Errorf("%s was acknowledged with %d bytes and has %d, %v", key, n, len(e.Value), err)
		}
	}
	if e, err := b.Get(t.Context(), "n"); err != nil || e.Revision < revision ||
		e.Revision == revision && string(e.Value) != strconv.Itoa(sum) {
		t.Errorf("the number %d of revision %d is %q of %d, %v", sum, revision, e.Value, e.Revision, err)
	}
	found := map[int64]int{}
	reader, err := connectAs(t, server.URL, "reader").OpenEvents(t.Context(), "agents")
	if err != nil {
		t.Fatal(err)
	}
	for e, err := range reader.Read(t.Context(), false) {
		if err != nil {
			t.Error(err)
		}
		found[e.Seq]++
	}
	for _, seq := range recorded {
		if found[seq] != 1 {
			t.Errorf("the event %d was acknowledged and is there %d times", seq, found[seq])
		}
	}
	if len(acknowledged) < 20 || len(recorded) < 20 {
		t.Errorf("only %d values and %d events were acknowledged", len(acknowledged), len(recorded))
	}
}

// TestRolesMayDoTheirWorkAlone starts a server with server.conf. Each role does its work, and is refused other work.
func TestRolesMayDoTheirWorkAlone(t *testing.T) {
	connectAs := secured(t)
	s, err := embedded.Start(t.TempDir(), embedded.Config("server.conf"), embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	ctx := t.Context()
	admin := connectAs(t, s.ListenURL(), "admin")
	b, err := admin.Bucket(ctx, "agents", nats.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	records, err := admin.Events(ctx, "agents", nats.EventLimits{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, records, event("a", 0)) // so that there is a record to read
	if _, err := b.Put(ctx, "store/secret", []byte("x")); err != nil {
		t.Fatal(err)
	}
	hooks, err := nats.Serve(connectAs(t, s.ListenURL(), "hooks"), "hooks", echo{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hooks.Close(context.Background()) })

	// with returns work on the bucket.
	with := func(do func(b *nats.Bucket) error) func(c *nats.Conn) error {
		return func(c *nats.Conn) error {
			b, err := c.Bucket(ctx, "agents", nats.Limits{})
			if err != nil {
				return err
			}
			return do(b)
		}
	}
	work := map[string]func(c *nats.Conn) error{
		"make a bucket": func(c *nats.Conn) error { _, err := c.Bucket(ctx, "other", nats.Limits{}); return err },
		"make events":   func(c *nats.Conn) error { _, err := c.Events(ctx, "other", nats.EventLimits{}); return err },
		"serve hooks": func(c *nats.Conn) error {
			s, err := nats.Serve(c, "hooks", echo{})
			if err == nil {
				err = s.Close(ctx)
			}
			return err
		},
		"call hooks": func(c *nats.Conn) error {
			caller := nats.NewCaller(c, "hooks")
			return c.Do(ctx, func(ctx context.Context) error {
				_, err := caller.Describe(ctx)
				if err == nil {
					_, err = caller.Call(ctx, wire.Request{Point: "p"})
				}
				return err
			})
		},
		"write events": func(c *nats.Conn) error {
			e, err := c.OpenEvents(ctx, "agents")
			if err == nil {
				err = e.WriteEvent(ctx, event("a", 1))
			}
			return err
		},
		"publish an event": func(c *nats.Conn) error {
			text, err := json.Marshal(event("b", 1))
			if err != nil {
				return err
			}
			return c.Do(ctx, func(ctx context.Context) error {
				_, err := c.JetStream().Publish(ctx, "events.agents", text)
				return err
			})
		},
		"read events": func(c *nats.Conn) error {
			e, err := c.OpenEvents(ctx, "agents")
			if err != nil {
				return err
			}
			for _, err := range e.Read(ctx, false) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"use the store": with(func(b *nats.Bucket) error {
			store := nats.Store{Bucket: b}
			long := []byte(strings.Repeat("x", 1<<20))
			err := errors.Join(store.Put(ctx, "a/b", long), store.Put(ctx, strings.Repeat("long", 200), long))
			if err != nil {
				return err
			}
			_, got := store.Get(ctx, "a/b")
			_, listed := store.Keys(ctx, "")
			_, put := b.Put(ctx, "n", []byte("1"))
			return errors.Join(got, listed, store.Delete(ctx, "a/b"), put)
		}),
		"read a value": with(func(b *nats.Bucket) error {
			_, err := nats.Store{Bucket: b}.Get(ctx, "secret")
			return err
		}),
		"list the keys": with(func(b *nats.Bucket) error {
			_, err := b.Keys(ctx, "store/")
			return err
		}),
		"change a value": func(c *nats.Conn) error {
			return c.Do(ctx, func(ctx context.Context) error {
				_, err := c.JetStream().Publish(ctx, "$KV.agents.k.store.other", []byte("y"))
				return err
			})
		},
		"delete the bucket": func(c *nats.Conn) error {
			return c.Do(ctx, func(ctx context.Context) error { return c.JetStream().DeleteKeyValue(ctx, "agents") })
		},
		"read others' replies": func(c *nats.Conn) error { return subscribe(c, "_INBOX_admin.>") },
		"read everything":      func(c *nats.Conn) error { return subscribe(c, ">") },
		"read the requests":    func(c *nats.Conn) error { return subscribe(c, "hooks.call") },
	}
	may := map[string][]string{
		"hooks": {"serve hooks"},
		"worker": {
			"call hooks", "write events", "publish an event", "use the store", "read a value", "list the keys",
			"change a value",
		},
		"reader": {"read events"},
	}
	for role, permitted := range may {
		for name, do := range work {
			t.Run(role+" "+name, func(t *testing.T) {
				c := connectAs(t, s.ListenURL(), role, nats.Timeout(3*time.Second), nats.OnError(func(error) {}))
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(t.Context(), limitOf(slices.Contains(permitted, name)))
				defer cancel()
				err := do(c)
				if (err == nil) != slices.Contains(permitted, name) {
					t.Errorf("it ended with %v", err)
				}
			})
		}
	}
}

// limitOf returns the time limit of work. The server answers nothing to work that it does not permit.
func limitOf(permitted bool) time.Duration {
	if permitted {
		return time.Minute
	}
	return 50 * time.Millisecond
}

// subscribe returns the error with which the server refuses a subscription.
func subscribe(c *nats.Conn, subject string) error {
	sub, err := c.Client().SubscribeSync(subject)
	if err == nil {
		err = c.Client().Flush()
	}
	if err == nil {
		_, err = sub.NextMsg(50 * time.Millisecond)
	}
	if errors.Is(err, client.ErrTimeout) {
		err = nil // it would receive
	}
	return err
}

// config writes a configuration file.
func config(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "server.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestStrangersAreRefused(t *testing.T) {
	dir := t.TempDir()
	cert, key := certificate(t, dir)
	s, err := embedded.Start(t.TempDir(), embedded.Config(config(t, fmt.Sprintf(`
listen: "127.0.0.1:-1"
tls { cert_file: %q, key_file: %q }
authorization { users: [ { user: ann, password: secret } ] }`, cert, key))), embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for name, c := range map[string]struct {
		url  string
		opts []nats.Option
		ok   bool
	}{
		"a password":            {s.ListenURL(), []nats.Option{nats.Password("ann", "secret"), nats.RootCA(cert)}, true},
		"a password in process": {s.URL(), []nats.Option{nats.Password("ann", "secret")}, true},
		"no password":           {s.ListenURL(), []nats.Option{nats.RootCA(cert)}, false},
		"a wrong password":      {s.ListenURL(), []nats.Option{nats.Password("ann", "wrong"), nats.RootCA(cert)}, false},
		"an unknown authority":  {s.ListenURL(), []nats.Option{nats.Password("ann", "secret")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := nats.Connect(c.url, append(c.opts, nats.OnError(func(error) {}))...)
			if err == nil {
				if conn.Client().Opts.IgnoreDiscoveredServers {
					t.Error("the servers of a cluster with TLS are ignored")
				}
				_ = conn.Close()
			}
			if (err == nil) != c.ok || err != nil && strings.Contains(err.Error(), "wrong") {
				t.Errorf("Connect: %v", err)
			}
		})
	}
}

// TestPasswordsAreSentToNamedServersOnly: they may be on other machines, and the connection has no TLS.
func TestPasswordsAreSentToNamedServersOnly(t *testing.T) {
	s, err := embedded.Start(t.TempDir(), embedded.Config(config(t, localConfig(""))), embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	conn, err := nats.Connect(s.ListenURL(), nats.Password("a", "b"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if !conn.Client().Opts.IgnoreDiscoveredServers {
		t.Error("the connection would use every server that this one names")
	}
}

// TestClientsNeedACertificate starts a server that verifies the certificates of its clients and knows them as users.
func TestClientsNeedACertificate(t *testing.T) {
	cert, key := certificate(t, t.TempDir())
	strange, strangeKey := certificate(t, t.TempDir())
	s, err := embedded.Start(t.TempDir(), embedded.Config(config(t, fmt.Sprintf(`
listen: "127.0.0.1:-1"
tls { cert_file: %q, key_file: %q, ca_file: %q, verify_and_map: true }
authorization { users: [ { user: "CN=test" } ] }`, cert, key, cert))), embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for name, c := range map[string]struct {
		opts []nats.Option
		ok   bool
	}{
		"its certificate":      {[]nats.Option{nats.RootCA(cert), nats.ClientCert(cert, key)}, true},
		"no certificate":       {[]nats.Option{nats.RootCA(cert)}, false},
		"another certificate":  {[]nats.Option{nats.RootCA(cert), nats.ClientCert(strange, strangeKey)}, false},
		"the key of another":   {[]nats.Option{nats.RootCA(cert), nats.ClientCert(cert, strangeKey)}, false},
		"a missing file":       {[]nats.Option{nats.RootCA(cert), nats.ClientCert("none.pem", key)}, false},
		"an unknown authority": {[]nats.Option{nats.RootCA(strange), nats.ClientCert(cert, key)}, false},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := nats.Connect(s.ListenURL(), append(c.opts, nats.OnError(func(error) {}))...)
			if err == nil {
				defer conn.Close()
				_, err = bucketOf(t, conn, nats.Limits{}).Put(t.Context(), "key", nil)
			}
			if (err == nil) != c.ok {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}

// TestCredentialsFiles: an operator signs an account, the account signs a user, and the user has a credentials file.
func TestCredentialsFiles(t *testing.T) {
	operator, err := nkeys.CreateOperator()
	system, failed := nkeys.CreateAccount()
	account, other := nkeys.CreateAccount()
	user, another := nkeys.CreateUser()
	if err = errors.Join(err, failed, other, another); err != nil {
		t.Fatal(err)
	}
	public := func(k nkeys.KeyPair) string {
		name, err := k.PublicKey()
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	encoded := func(text string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	claims := jwt.NewAccountClaims(public(account))
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{DiskStorage: -1, MemoryStorage: -1, Streams: -1, Consumer: -1}
	operators := encoded(jwt.NewOperatorClaims(public(operator)).Encode(operator))
	accounts := encoded(claims.Encode(operator))
	systems := encoded(jwt.NewAccountClaims(public(system)).Encode(operator))
	users := encoded(jwt.NewUserClaims(public(user)).Encode(account))
	seed, err := user.Seed()
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.FormatUserConfig(users, seed)
	file := filepath.Join(t.TempDir(), "user.creds")
	if err = errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	conf := fmt.Sprintf(`
listen: "127.0.0.1:-1"
operator: %s
system_account: %s
resolver: MEMORY
resolver_preload: { %s: %s, %s: %s }`,
		operators, public(system), public(account), accounts, public(system), systems)
	s, err := embedded.Start(t.TempDir(), embedded.Config(config(t, conf)), embedded.SyncEvery(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	b := bucketOf(t, connect(t, s.ListenURL(), nats.Credentials(file)), nats.Limits{})
	if _, err := b.Put(t.Context(), "key", nil); err != nil {
		t.Error(err)
	}
	if c, err := nats.Connect(s.ListenURL(), nats.OnError(func(error) {})); err == nil {
		_ = c.Close()
		t.Error("a connection without credentials was accepted")
	}
}

// clusterConfig returns a configuration with a cluster block.
func clusterConfig(block string) string {
	return "listen: \"127.0.0.1:-1\"\nauthorization { user: a, password: b }\n" +
		"cluster { name: c, listen: \"127.0.0.1:-1\", " + block + " }"
}

// localConfig returns a configuration for clients of this machine, with another block.
func localConfig(block string) string {
	return "listen: \"127.0.0.1:-1\"\nauthorization { user: a, password: b }\n" + block
}

func TestUnsafeConfigurationsAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no users":     {`listen: "127.0.0.1:-1"`, "no users"},
		"without TLS":  {"listen: \"0.0.0.0:-1\"\nauthorization { user: a, password: b }", "without TLS"},
		"no listen":    {"authorization { user: a, password: b }", "without TLS"},
		"not a config": {"listen: {", "configuration"},
		"open cluster": {clusterConfig(""), "accept every server"},
		"far cluster":  {clusterConfig("listen: \"0.0.0.0:-1\", authorization { user: a, password: b }"), "cluster listens"},
		"websocket":    {localConfig("websocket { listen: \"0.0.0.0:18080\", no_tls: true }"), "websocket listens"},
		"mqtt":         {localConfig("mqtt { listen: \"0.0.0.0:18080\" }\nserver_name: a"), "mqtt listens"},
		"leaf nodes":   {localConfig("leafnodes { listen: \"0.0.0.0:18080\" }"), "leafnodes listens"},
		"gateway":      {localConfig("gateway { name: a, listen: \"0.0.0.0:18080\" }"), "gateway listens"},
		"monitoring":   {localConfig("http: \"0.0.0.0:18080\""), "http listens"},
		"everywhere":   {localConfig("http_port: 18080"), "http listens"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := embedded.Start(t.TempDir(), embedded.Config(config(t, c.text)))
			if err == nil {
				_ = s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Start: %v; want an error with %q", err, c.want)
			}
		})
	}
}

// TestADirectoryHasOneServer: another server in this process or another one is refused, and the files are private.
func TestADirectoryHasOneServer(t *testing.T) {
	dir := t.TempDir()
	s, err := embedded.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	if other, err := embedded.Start(dir); err == nil {
		_ = other.Close()
		t.Error("a second server was started")
	}
	if url := s.ListenURL(); url != "" {
		t.Errorf("it listens on %s", url)
	}
	info, err := os.Stat(filepath.Join(dir, "jetstream"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the files have the mode %v, %v", info.Mode(), err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again, err := embedded.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Close()
}

// TestCallsWaitForTheServer: the server is gone for a while. Calls fail when their time is over, and succeed when the
// server is back. Nothing that was acknowledged is lost, and nothing that failed is done later.
func TestCallsWaitForTheServer(t *testing.T) {
	dir := t.TempDir()
	s, err := embedded.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	var seen reports
	c := connect(t, s.URL(), seen.option(), nats.Timeout(10*time.Second))
	b := bucketOf(t, c, nats.Limits{})
	e := eventsOf(t, c, nats.EventLimits{})
	if _, err := b.Put(t.Context(), "key", []byte("kept")); err != nil {
		t.Fatal(err)
	}
	write(t, e, event("a", 1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	seen.wait(t, "the connection is lost")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, got := b.Get(ctx, "key")
	_, put := b.Put(ctx, "key", []byte("late"))
	_, added := b.Create(ctx, "n", []byte("1"))
	_, called := nats.NewCaller(c, "hooks", nats.Timeout(50*time.Millisecond)).Call(t.Context(), wire.Request{})
	for call, err := range map[string]error{"Get": got, "Put": put, "Create": added, "Call": called} {
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s without a server: %v", call, err)
		}
	}
	again, err := embedded.Start(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = again.Close() })
	if got, err := b.Get(t.Context(), "key"); err != nil || string(got.Value) != "kept" {
		t.Errorf("afterwards Get returned %q, %v", got.Value, err)
	}
	if _, err := b.Put(t.Context(), "key", []byte("new")); err != nil {
		t.Errorf("afterwards Put: %v", err)
	}
	write(t, e, event("a", 2))
	if got := summary(t, e); !slices.Equal(got, []string{"a 1", "a 2"}) {
		t.Errorf("the events are %q", got)
	}
}

// TestCallsWaitBeforeALossIsReported: the connection is lost while a report before it still takes its time.
func TestCallsWaitBeforeALossIsReported(t *testing.T) {
	s := newServer(t)
	reporting, report := make(chan error, 10), make(chan struct{})
	c := connect(t, s.URL(), nats.OnError(func(err error) {
		reporting <- err
		<-report
	}))
	t.Cleanup(func() { close(report) })
	b := bucketOf(t, c, nats.Limits{})
	slow, err := c.Client().SubscribeSync("slow")
	if err == nil {
		err = slow.SetPendingLimits(1, 1<<10)
	}
	for range 3 {
		err = errors.Join(err, c.Client().Publish("slow", nil))
	}
	if err != nil {
		t.Fatal(err)
	}
	<-reporting
	lost := c.Client().StatusChanged(client.RECONNECTING)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-lost
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.Get(ctx, "key"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Get returned %v", err)
	}
}

// TestAFullDiskIsAClearError: the limits of the files and of a bucket are reached.
func TestAFullDiskIsAClearError(t *testing.T) {
	c := connect(t, newServer(t, embedded.MaxBytes(4<<20)).URL())
	if _, err := c.Bucket(t.Context(), "large", nats.Limits{}); err == nil || !strings.Contains(err.Error(), "storage") {
		t.Errorf("a bucket that does not fit: %v", err)
	}
	b := bucketOf(t, c, nats.Limits{MaxBytes: 2 << 20})
	var full error
	stored := 0
	for i := range 100 {
		_, err := b.Put(t.Context(), fmt.Sprint(i), make([]byte, 100_000))
		if err != nil {
			full = err
			break
		}
		stored++
	}
	if full == nil || !strings.Contains(full.Error(), "maximum bytes") || stored < 10 {
		t.Errorf("after %d values: %v", stored, full)
	}
	if _, err := b.Put(t.Context(), "0", make([]byte, 1<<20)); err == nil {
		t.Error("a long value fits into a full bucket")
	}
	if keys, err := b.Keys(t.Context(), ""); err != nil || len(keys) != stored {
		t.Errorf("%d values are stored, %v; want %d", len(keys), err, stored)
	}
	if err := b.Delete(t.Context(), "1"); err != nil {
		t.Errorf("Delete in a full bucket: %v", err)
	}
}
