package fleet

import (
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// An Account bounds what tasks spend together, in any number of processes. For example, the accounts of a task are
// "tenant acme 2026-11" and "user acme ann 2026-11", each with a limit; next month has other accounts.
//
// The highest possible cost of a model call is reserved before the call, and its real cost is charged after it. A call
// that does not fit the limit is not made, and its run fails with [ErrSpent].
//
// Sometimes nobody knows the real cost: the worker is killed during the call, a stream breaks off, or the model reports
// no usage. Then the whole reservation is charged. A call that never reached the model costs nothing: its context was
// done, no connection could be made, or its error is an *agent.PromptTooLong or has a method Refused() bool that
// returns true. The errors of loop/anthropic and loop/openai have it, for example for status 401 and 429.
//
// Tokens and their cost are bounded as well as the prompt is counted, so give a model that counts its own tokens. If an
// account limits one of them, a request without MaxTokens gets that of [Worker.MaxReply]. Do not set the limit of a
// reply in LLMRequest.Extra. A limit on the cost needs [Worker.Prices]: a run makes no call whose price is unknown.
// Calls that hooks make themselves, with Env.Model, are not reserved.
type Account struct {
	Name  string // any text but ""
	Limit Amount // a zero field has no limit
}

// An Amount is what calls of a model cost.
type Amount struct {
	Calls  int     `json:"calls"`
	Tokens int     `json:"tokens"`
	Cost   float64 `json:"cost"` // in the unit of Usage.Cost
}

func (a Amount) plus(b Amount) Amount {
	return Amount{add(a.Calls, b.Calls), add(a.Tokens, b.Tokens), min(price(a.Cost)+price(b.Cost), math.MaxFloat64)}
}

// price returns a cost that can be added. A negative one, as of a wrong price, counts as 0.
func price(cost float64) float64 {
	if math.IsNaN(cost) {
		return 0
	}
	return min(max(cost, 0), math.MaxFloat64)
}

// add returns the sum of two numbers. It saturates. A negative number, as of a wrong counter of tokens, counts as 0.
func add(a, b int) int {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// within reports whether a fits a limit.
func (a Amount) within(limit Amount) bool {
	return (limit.Calls == 0 || a.Calls <= limit.Calls) && (limit.Tokens == 0 || a.Tokens <= limit.Tokens) &&
		(limit.Cost == 0 || a.Cost <= limit.Cost)
}

// String describes the fields that are not zero, for example as a limit.
func (a Amount) String() string {
	var all []string
	if a.Calls != 0 {
		all = append(all, fmt.Sprintf("%d calls", a.Calls))
	}
	if a.Tokens != 0 {
		all = append(all, fmt.Sprintf("%d tokens", a.Tokens))
	}
	if a.Cost != 0 {
		all = append(all, fmt.Sprintf("a cost of %g", a.Cost))
	}
	return cmp.Or(strings.Join(all, " and "), "nothing")
}

// ErrSpent is the error of a run whose account is used up.
var ErrSpent = errors.New("fleet: the account is used up")

// bounds reports whether one of the accounts has a limit that f accepts.
func bounds(accounts []Account, f func(limit Amount) bool) bool {
	return slices.ContainsFunc(accounts, func(a Account) bool { return f(a.Limit) })
}

func limitsTokens(limit Amount) bool { return limit.Tokens > 0 || limit.Cost > 0 }
func limitsCost(limit Amount) bool   { return limit.Cost > 0 }

// worstCase returns the most that a request is expected to cost. Its reply has at most req.MaxTokens. known says that
// the price is known.
func worstCase(run *agent.Run, req agent.LLMRequest, prices agent.Pricer) (worst Amount, known bool) {
	prompt := add(run.Env.CountTokens(req.Messages), agentspec.EstimateTools(req.Tools))
	worst = Amount{Calls: 1, Tokens: add(prompt, req.MaxTokens)}
	if prices == nil {
		return worst, false
	}
	for _, usage := range []agent.Usage{ // writing a cache may cost more
		{Input: prompt, Output: req.MaxTokens}, {Input: prompt, CacheWrite: prompt, Output: req.MaxTokens},
	} {
		var cost float64
		cost, known = prices.Price(req, agent.LLMResponse{Usage: usage})
		worst.Cost = max(worst.Cost, price(cost))
	}
	return worst, known
}

// costOf returns the cost of a call for which an amount is held.
func costOf(held Amount, reply agent.LLMResponse, err error) Amount {
	if err != nil && refused(err) {
		return Amount{}
	}
	if used := reply.Usage.Total(); err == nil && used > 0 {
		return Amount{1, used, price(reply.Usage.Cost)}
	}
	return held // nobody knows what the model has done
}

// refused reports whether a failed call has not reached the model. An error of several ones counts only if each of them
// does, because a model may have called another one before.
func refused(err error) bool {
	var this any = err // without the errors that it wraps
	if says, ok := this.(interface{ Refused() bool }); ok && says.Refused() {
		return true
	}
	switch this := this.(type) {
	case *net.OpError:
		return this.Op == "dial" || this.Op == "proxyconnect"
	case *net.DNSError, *tls.CertificateVerificationError, *agent.PromptTooLong:
		return true
	case interface{ Unwrap() error }:
		return refused(this.Unwrap())
	case interface{ Unwrap() []error }:
		all := this.Unwrap()
		return len(all) > 0 && !slices.ContainsFunc(all, func(err error) bool { return !refused(err) })
	}
	return false
}

// A Balance is the state of an account.
type Balance struct {
	Spent Amount            `json:"spent"`
	Held  map[string]Amount `json:"held,omitempty"` // reserved for calls, by an ID that begins with that of the run
}

// Total is the sum of the amounts that are spent and held. It never exceeds the limit, if the counts of tokens are
// right.
func (b Balance) Total() Amount {
	total := b.Spent
	for _, a := range b.Held {
		total = total.plus(a)
	}
	return total
}

type hold struct {
	ID     string
	Amount Amount
}

// A bank changes accounts with compare-and-set.
type bank struct {
	table  Table
	clock  agent.Clock
	report *waits // nil for a client
}

func accountKey(name string) string { return "account/" + name }

// balance returns the state of an account, also as it is stored.
func (b *bank) balance(ctx context.Context, name string) (balance Balance, data []byte, revision uint64, err error) {
	data, revision, err = b.table.Get(ctx, accountKey(name))
	if errors.Is(err, ErrNotFound) {
		return Balance{}, nil, 0, nil
	}
	if err == nil {
		if err = json.Unmarshal(data, &balance); err != nil {
			err = fmt.Errorf("it cannot be read, so its runs wait; repair or delete it if no release reads it: %w; %w", err,
				ErrUnreadable)
		}
	}
	if err != nil {
		return Balance{}, nil, 0, fmt.Errorf("fleet: account %.100q: %w", name, err)
	}
	return balance, data, revision, nil
}

// check returns an error that wraps ErrUnreadable if this release cannot change an account for a run: the account has
// other types, or it holds an amount for the run whose fields this release could not charge.
func (b *bank) check(ctx context.Context, accounts []Account, run string) error {
	for _, a := range accounts {
		balance, data, _, err := b.balance(ctx, a.Name)
		if err != nil {
			return err
		}
		var raw struct{ Held map[string]json.RawMessage }
		if len(data) > 0 {
			if err := json.Unmarshal(data, &raw); err != nil {
				return err
			}
		}
		for id, held := range raw.Held {
			if !strings.HasPrefix(id, run+"/") {
				continue
			}
			if field, err := agentspec.UnknownField(held, balance.Held[id]); err != nil || field != "" {
				return fmt.Errorf("fleet: account %.100q: the field %q of %q is unknown; %w", a.Name, field, id,
					errors.Join(err, ErrUnreadable))
			}
		}
	}
	return nil
}

// encode returns the stored form of a balance. It keeps the fields of the earlier form that this release does not know.
func (b Balance) encode(earlier []byte) ([]byte, error) {
	var old, now struct {
		Spent json.RawMessage            `json:"spent"`
		Held  map[string]json.RawMessage `json:"held"`
	}
	if earlier != nil {
		if err := json.Unmarshal(earlier, &old); err != nil {
			return nil, err
		}
	}
	var err error
	now.Spent, err = merged(old.Spent, b.Spent)
	now.Held = make(map[string]json.RawMessage, len(b.Held))
	for id, amount := range b.Held {
		if err == nil {
			now.Held[id], err = merged(old.Held[id], amount)
		}
	}
	if err != nil {
		return nil, err
	}
	return merged(earlier, now)
}

// merged returns a JSON object with the fields of v. It keeps the other fields of an earlier object; nil is empty.
func merged(earlier []byte, v any) ([]byte, error) {
	fields := make(map[string]json.RawMessage)
	data, err := json.Marshal(v)
	if err == nil && earlier != nil {
		err = json.Unmarshal(earlier, &fields)
	}
	if err == nil {
		err = json.Unmarshal(data, &fields)
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}

// change applies f to an account until it succeeds, f fails, or ctx is done. f may run again after an attempt whose
// outcome is unknown, so it must do nothing to a balance that it has changed already: then it returns false.
func (b *bank) change(ctx context.Context, name string, f func(*Balance) (bool, error)) error {
	again := retry{clock: b.clock, wait: time.Millisecond, report: b.report, part: "the accounts"}
	defer again.end()
	for {
		balance, earlier, revision, err := b.balance(ctx, name)
		if err == nil {
			changes, refused := f(&balance)
			if refused != nil || !changes {
				return refused
			}
			var data []byte
			if data, err = balance.encode(earlier); err != nil {
				return fmt.Errorf("fleet: account %.100q: %w", name, err)
			}
			if err = b.table.Put(ctx, accountKey(name), data, revision); err == nil {
				return nil
			}
		}
		if errors.Is(err, ErrTooLarge) || errors.Is(err, ErrUnreadable) {
			return err
		}
		if err := again.pause(ctx, err); err != nil {
			return fmt.Errorf("fleet: account %.100q: %w", name, err)
		}
	}
}

// reserve holds an amount in all accounts, or in none.
func (b *bank) reserve(ctx context.Context, accounts []Account, h hold) error {
	for i, a := range accounts {
		err := b.change(ctx, a.Name, func(balance *Balance) (bool, error) {
			total := balance.Total()
			then := total
			_, held := balance.Held[h.ID] // by an earlier attempt, or for an account of the same name with another limit
			if !held {
				then = total.plus(h.Amount)
			}
			if !then.within(a.Limit) {
				return false, fmt.Errorf("%w: %.100q has spent and reserved %v, and the call needs %v; the limit is %v", ErrSpent,
					a.Name, total, h.Amount, a.Limit)
			}
			if balance.Held == nil {
				balance.Held = make(map[string]Amount)
			}
			balance.Held[h.ID] = h.Amount
			return !held, nil
		})
		if err != nil {
			return errors.Join(err, b.settle(ctx, accounts[:i], h.ID, Amount{}))
		}
	}
	return nil
}

// settle charges the real cost of a call instead of the amount that was held for it.
func (b *bank) settle(ctx context.Context, accounts []Account, id string, spent Amount) error {
	var errs []error
	for _, a := range accounts {
		errs = append(errs, b.change(ctx, a.Name, func(balance *Balance) (bool, error) {
			if _, ok := balance.Held[id]; !ok {
				return false, nil
			}
			delete(balance.Held, id)
			balance.Spent = balance.Spent.plus(spent)
			return true, nil
		}))
	}
	return errors.Join(errs...)
}

// absorb charges the whole amounts that earlier claims of a run have left in its accounts.
func (b *bank) absorb(ctx context.Context, accounts []Account, run string) error {
	var errs []error
	for _, a := range accounts {
		errs = append(errs, b.change(ctx, a.Name, func(balance *Balance) (changed bool, _ error) {
			for _, id := range slices.Sorted(maps.Keys(balance.Held)) {
				if strings.HasPrefix(id, run+"/") {
					balance.Spent = balance.Spent.plus(balance.Held[id])
					delete(balance.Held, id)
					changed = true
				}
			}
			return changed, nil
		}))
	}
	return errors.Join(errs...)
}
