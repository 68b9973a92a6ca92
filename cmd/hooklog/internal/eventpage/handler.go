package eventpage

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
)

// NewHandler returns a handler that serves the page of a record under a name. The caller keeps updating the index.
//
// The handler answers requests that name one of the hosts, such as localhost:8080, and that know the token. The address
// of the page is /?token=TOKEN: it stores the token in a cookie, which other sites cannot read or send. Without the
// check of the host, a site could give its own name the address of this machine and read the record. A host that
// browsers reach by TLS is https://HOST, and its cookie is sent by TLS only.
func NewHandler(x *eventlog.Index, name, token string, hosts ...string) http.Handler {
	h := &handler{views: &views{Index: x}, name: name, token: token, hosts: map[string]bool{}}
	for _, host := range hosts {
		host, secure := strings.CutPrefix(host, "https://")
		h.hosts[strings.ToLower(host)] = secure
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", h.page)
	for path, answer := range map[string]func(*http.Request) (any, error){
		"status": h.status, "runs": h.runs, "run": h.run, "items": h.items, "event": h.event, "fire": h.fire, "text": h.text,
		"find": h.find, "numbers": h.numbers,
	} {
		mux.HandleFunc("GET /api/"+path, func(w http.ResponseWriter, r *http.Request) {
			result, err := answer(r)
			if h.isStale(r) {
				result, err = nil, nil
			}
			reply(w, result, err)
		})
	}
	mux.HandleFunc("GET /api/changes", h.changes)
	return h.guard(mux)
}

type handler struct {
	*views
	name, token string
	hosts       map[string]bool // whether browsers reach the host by TLS
}

// guard refuses the requests of other sites, and those without the token.
func (h *handler) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Content-Security-Policy":      livePolicy(),
			"X-Content-Type-Options":       "nosniff",
			"Referrer-Policy":              "no-referrer",
			"Cache-Control":                "no-store",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cross-Origin-Opener-Policy":   "same-origin",
		} {
			w.Header().Set(name, value)
		}
		secure, known := h.hosts[strings.ToLower(r.Host)]
		if !known {
			http.Error(w, "open the address that hooklog printed; this name is not one of its names", http.StatusForbidden)
			return
		}
		cookie := http.Cookie{
			Name: cookieName(r.Host), Value: h.token, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
			Secure: secure,
		}
		if r.URL.Path == "/" && h.knows(r.URL.Query().Get("token")) {
			http.SetCookie(w, &cookie)
			http.Redirect(w, r, "/", http.StatusSeeOther)
			return
		}
		given, err := r.Cookie(cookie.Name)
		site := r.Header.Get("Sec-Fetch-Site") // "" in clients that are not browsers, which have no cookies of others
		if err != nil || !h.knows(given.Value) || site != "" && site != "same-origin" && site != "none" {
			http.Error(w, "paste the whole address that hooklog printed into the address bar; it contains a token",
				http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cookieName returns the name of the cookie of a host. Browsers send the cookies of all ports to each port.
func cookieName(host string) string {
	_, port, _ := net.SplitHostPort(host)
	return "hooklog-" + port
}

func (h *handler) knows(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(h.token)) == 1
}

func (h *handler) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	// An error means that nobody reads the page any more.
	_ = writePage(w, "", fileData{Live: true, Name: h.name, Slow: eventlog.SlowHooks})
}

// isStale reports whether a request names another generation of the record than the present one. Its numbers belong to
// other runs and events, or to none.
func (h *handler) isStale(r *http.Request) bool {
	generation := r.URL.Query().Get("generation")
	return generation != "" && generation != strconv.FormatInt(h.Status().Generation, 10)
}

// A requestError is an error of the script of the page, or of somebody who writes requests by hand.
type requestError struct{ error }

func reply(w http.ResponseWriter, result any, err error) {
	if err != nil {
		code := http.StatusNotFound
		if _, wrong := errors.AsType[requestError](err); wrong {
			code = http.StatusBadRequest
		}
		http.Error(w, err.Error(), code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(result) // an error means that nobody reads the reply any more
}

// number reads a number of the query, which is not negative.
func number(r *http.Request, name string, otherwise int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, requestError{fmt.Errorf("%s=%q is not a number", name, text)}
	}
	return n, nil
}

// many bounds a list in one reply.
const many = 200

func (h *handler) status(*http.Request) (any, error) { return h.views.status(), nil }

func (h *handler) numbers(*http.Request) (any, error) { return h.Numbers(), nil }

// queryOf reads the conditions of a search.
func queryOf(r *http.Request) (eventlog.Query, error) {
	cost, err1 := fraction(r, "cost", 0)
	seconds, err2 := fraction(r, "duration", 0)
	values := r.URL.Query()
	return eventlog.Query{
		Text: values.Get("text"), Point: values.Get("point"), Hook: values.Get("hook"), Decision: values.Get("decision"),
		Kind: values.Get("kind"), Outcome: values.Get("outcome"), Tenant: values.Get("tenant"), MinCost: cost,
		MinDuration: time.Duration(max(0, min(seconds, maxSeconds)) * float64(time.Second)),
	}, errors.Join(err1, err2)
}

// maxSeconds is the longest time that a Duration can have.
const maxSeconds = float64(math.MaxInt64/time.Second - 1)

// fraction reads a number of the query, which may have a fraction.
func fraction(r *http.Request, name string, otherwise float64) (float64, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) {
		return 0, requestError{fmt.Errorf("%s=%q is not a number", name, text)}
	}
	return n, nil
}

// A runsView is a part of the list of runs.
type runsView struct {
	Runs []runView      `json:"runs"`
	Next *eventlog.Mark `json:"next"` // after which the list continues; null at the end
}

func (h *handler) runs(r *http.Request) (any, error) {
	q, err1 := queryOf(r)
	key, err2 := fraction(r, "key", eventlog.Start.Key)
	n, err3 := number(r, "number", eventlog.Start.Number)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	after := eventlog.Mark{Key: key, Number: n}
	runs, next := h.FindRuns(r.Context(), q, r.URL.Query().Get("order"), after, many/4, searchTime)
	view := runsView{Runs: []runView{}, Next: next}
	for _, run := range runs {
		view.Runs = append(view.Runs, h.views.run(run))
	}
	return view, nil
}

// A runPage is a run and the runs above it.
type runPage struct {
	runView
	Above []runView `json:"above"`
}

// run returns the run with a number or an ID.
func (h *handler) run(r *http.Request) (any, error) {
	n, err := number(r, "number", -1)
	if err != nil {
		return nil, err
	}
	if n < 0 {
		n, _ = h.RunByID(r.URL.Query().Get("id"))
	}
	run, above, ok := h.Run(n)
	if !ok || r.URL.Query().Has("id") && run.ID != r.URL.Query().Get("id") {
		return nil, errors.New("the record has no such run")
	}
	page := runPage{runView: h.views.run(run), Above: []runView{}}
	for _, a := range above {
		page.Above = append(page.Above, h.views.run(a))
	}
	return page, nil
}

func (h *handler) items(r *http.Request) (any, error) {
	run, err1 := number(r, "run", 0)
	from, err2 := number(r, "from", 0)
	before, err3 := number(r, "before", math.MaxInt)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	values := r.URL.Query()
	kind := values.Get("kind")
	return h.timeline(run, eventlog.Window{
		From: from, Before: before, Last: values.Has("before") || values.Has("last"), Most: many, Kind: kind,
	}, kind == eventlog.Conversation), nil
}

// event returns the number of a fire that the address of a page names, -1 if the record does not have it.
func (h *handler) event(r *http.Request) (any, error) {
	seq, err := number(r, "seq", 0)
	if err != nil {
		return nil, err
	}
	values := r.URL.Query()
	begin, _ := time.Parse(time.RFC3339Nano, values.Get("time")) // any time without one
	return map[string]int{"event": h.EventOf(r.Context(), values.Get("run"), int64(seq), begin)}, nil
}

func (h *handler) fire(r *http.Request) (any, error) {
	n, err := number(r, "event", 0)
	if err != nil {
		return nil, err
	}
	return h.detail(n)
}

// text returns the whole of a text that is cut in the details of a fire.
func (h *handler) text(r *http.Request) (any, error) {
	n, err := number(r, "event", 0)
	if err != nil {
		return nil, err
	}
	whole, err := h.whole(n, r.URL.Query().Get("what"))
	return map[string]string{"text": whole}, err
}

// A foundView is a part of the fires that a search found.
type foundView struct {
	Fires []foundFire `json:"fires"`
	Next  int         `json:"next"` // where the search continues; 0 at the end
}

// A foundFire is a fire that a search found.
type foundFire struct {
	fireView
	RunID string `json:"runID"`
}

// searchTime is how long a search looks at events before it replies, so that the page can show how far it is.
const searchTime = time.Second

func (h *handler) find(r *http.Request) (any, error) {
	before, err1 := number(r, "before", math.MaxInt)
	q, err2 := queryOf(r)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), searchTime)
	defer cancel()
	found, next := h.Find(ctx, q, before, many/4)
	view := foundView{Fires: []foundFire{}, Next: next}
	for _, n := range found {
		e, place, err := h.Event(n)
		if err != nil {
			return nil, err
		}
		view.Fires = append(view.Fires, foundFire{fireOf(n, e, place), e.Run.ID})
	}
	return view, nil
}

// changes sends the status, and then again after each change, as server-sent events.
func (h *handler) changes(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	flush := http.NewResponseController(w)
	for {
		changed := h.Changed() // before the status, so that no change is missed
		text, err := json.Marshal(h.views.status())
		if err == nil {
			_, err = fmt.Fprintf(w, "data: %s\n\n", text)
		}
		if err != nil || flush.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
		select {
		case <-r.Context().Done():
			return
		case <-time.After(changesApart): // a program can write thousands of events in this time
		}
	}
}

// changesApart is the time between two messages about changes.
const changesApart = 300 * time.Millisecond
