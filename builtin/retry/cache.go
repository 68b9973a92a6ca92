package retry

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/digest"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/limit"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Cache answers a repeated call of a tool with the result of the first one.
//
// For example, an agent reads the same page three times while it plans. With Tools: []string{"fetch"}, the page is
// fetched once, and the tool does not run for the other two calls. Such a call has the status skipped, and By is this
// hook. The call was permitted before, because permissions are decided before AroundTool.
//
// Only successful results of tools whose schema has ReadOnly are kept. A call of any other tool may make them outdated,
// so it removes all results of its owner. List no tool whose result depends on the moment, such as the time of day.
//
// Calls are the same if their arguments are equal as JSON values and agents of the same name make them. Two agents can
// have different tools of one name; give such agents different names. Results belong to the conversation; Share makes
// them available to more runs. A result is used for MaxAge, by the clock of the run. When all results together exceed
// MaxBytes, those that were not used for the longest time are removed.
//
// Cache uses AroundTool, outside [Tools] and [Breaker]. It is safe for concurrent use; do not copy it after first use.
// Bind panics if Tools is empty or has an empty name, and on a negative bound.
type Cache struct {
	Tools    []string                   // names of tools whose results are kept; "*" matches any text in a name. Required
	MaxAge   limit.Bound[time.Duration] // of a result; default 5 minutes
	MaxBytes limit.Bound[int]           // of all results together; default 16 MiB
	Share    share.Scope                // the runs that use the same results

	mu     sync.Mutex
	owners map[agent.Identity]*shelf
	recent list.List // of *kept, the last used first
	bytes  int
}

// A shelf has the results of one owner. A call that may change something replaces it, so that a read that is still
// running stores its result where nobody looks.
type shelf struct {
	owner   agent.Identity
	results map[string]*list.Element // by digest of the call and name of the agent
	reading int                      // calls whose result may be kept
}

// A kept is a result.
type kept struct {
	on     *shelf
	digest string
	result agent.ToolCallResult
	bytes  int
	until  time.Time
}

const (
	cacheAge   = 5 * time.Minute
	cacheBytes = 16 << 20
	keptBytes  = 512 // of a result without its texts
)

// Bind adds the hook to AroundTool.
func (c *Cache) Bind(h *agent.Hooks) {
	var missing error
	if len(c.Tools) == 0 {
		missing = errors.New(`Tools is empty, so nothing would be kept; name the tools, "*" for all that change nothing`)
	}
	kit.MustConfig("retry.Cache", errors.Join(missing, toolname.Check("Tools", c.Tools), c.MaxAge.Check("MaxAge"),
		c.MaxBytes.Check("MaxBytes"), c.Share.Check()))
	kit.WatchTools("retry.Cache", kit.ToolNames("Tools", c.Tools)...).AroundTool(h, c, hookkit.Priority(outside))
}

// AroundTool answers the call with an earlier result, or calls the tool.
func (c *Cache) AroundTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (hookkit.Answer[agent.ToolCallResult], error) {
	owner := c.Share.Owner(run)
	if !kit.IsReadOnly(run, call.Name) {
		c.drop(owner)
		defer c.drop(owner) // what was read meanwhile may be old too
		return next.Call(ctx, call)
	}
	if !toolname.Match(c.Tools, call.Name) {
		return next.Call(ctx, call)
	}
	key := digest.Call(call) + kit.Agent(run) // the digest has a fixed length
	result, on := c.find(owner, key, kit.Env(run).Now())
	if on == nil {
		return hookkit.Answered(result), nil
	}
	var good *agent.ToolCallResult
	defer func() { c.done(on, key, good, kit.Env(run).Now()) }() // also if the call panics
	answer, err := next.Call(ctx, call)
	if result = answer.Value(); err == nil && result.Err == "" {
		good = &result
	}
	return answer, err
}

// find returns the result of a call. Without one it returns the shelf of the owner, and the caller must call done.
func (c *Cache) find(owner agent.Identity, digest string, now time.Time) (agent.ToolCallResult, *shelf) {
	c.mu.Lock()
	defer c.mu.Unlock()
	on := c.owners[owner]
	if on == nil {
		if c.owners == nil {
			c.owners = make(map[agent.Identity]*shelf)
		}
		on = &shelf{owner: owner, results: make(map[string]*list.Element)}
		c.owners[owner] = on
	}
	if at := on.results[digest]; at != nil {
		if k := at.Value.(*kept); now.Before(k.until) {
			c.recent.MoveToFront(at)
			return k.result.Clone(), nil
		}
	}
	on.reading++
	return agent.ToolCallResult{}, on
}

// done ends a read. It keeps the result, unless it is nil, longer than all that may be kept, or a call that may change
// something began meanwhile.
func (c *Cache) done(on *shelf, digest string, result *agent.ToolCallResult, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { on.reading--; c.clear(on) }()
	if c.owners[on.owner] != on {
		return
	}
	if at := on.results[digest]; at != nil { // too old, or kept by a parallel call
		c.remove(at)
	}
	if result != nil {
		k := &kept{on, digest, result.Clone(), sizeOf(result), now.Add(c.MaxAge.Or(limit.AtMost(cacheAge)))}
		if k.bytes <= c.MaxBytes.Or(cacheBytes) {
			on.results[digest] = c.recent.PushFront(k)
			c.bytes += k.bytes
		}
	}
	for c.bytes > c.MaxBytes.Or(cacheBytes) {
		c.remove(c.recent.Back())
	}
}

// drop removes all results of an owner.
func (c *Cache) drop(owner agent.Identity) {
	c.mu.Lock()
	defer c.mu.Unlock()
	on := c.owners[owner]
	if on == nil {
		return
	}
	for _, at := range on.results {
		c.bytes -= c.recent.Remove(at).(*kept).bytes
	}
	delete(c.owners, owner)
}

// remove removes a result. The caller holds the lock.
func (c *Cache) remove(at *list.Element) {
	k := c.recent.Remove(at).(*kept)
	c.bytes -= k.bytes
	delete(k.on.results, k.digest)
	c.clear(k.on)
}

// clear removes a shelf that is not used. The caller holds the lock.
func (c *Cache) clear(on *shelf) {
	if len(on.results) == 0 && on.reading == 0 && c.owners[on.owner] == on {
		delete(c.owners, on.owner)
	}
}

// sizeOf returns the bytes that a result takes, roughly.
func sizeOf(r *agent.ToolCallResult) int {
	size := keptBytes + len(r.Output) + len(r.Call.Args)
	for _, p := range r.Parts {
		size += len(p.Data) + len(p.URL)
	}
	for _, text := range append(r.Warnings[:len(r.Warnings):len(r.Warnings)], r.Context...) {
		size += len(text)
	}
	return size
}
