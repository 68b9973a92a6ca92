package limit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/builtin/share"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Throttle slows down calls that come too often, and then refuses them.
//
// For example, an agent reads one page of a customer list after the other. Within a minute, each call has a warning for
// the model. From the third call on, calls wait for two seconds before they run, and from the fifth on for five
// seconds. The eighth is denied, with the time after which a call is possible again.
//
// All calls of Tools count together, over the runs of a conversation, or of a user or tenant if Share says so. A call
// counts once for the time of Window, also if another hook refuses it. Calls that this hook denies do not count.
//
// Throttle uses OnPermission, with the priority Safety, and AroundTool, outside the hooks with other priorities. It
// forgets calls that are older than Window and is safe for concurrent use; do not copy it after first use. Bind panics
// if Tools is empty, if a bound is negative, or if Levels are not in ascending order.
type Throttle struct {
	// Tools are the names of the tools whose calls count. "*" matches any text in a name. Required.
	Tools []string
	// Window is the time for which a call counts; default a minute. It may not be None.
	Window Bound[time.Duration]
	// Levels say from which call in Window the model is warned and calls wait. Nil: the three of the example.
	Levels []ThrottleLevel
	// Max is the number of calls in Window after which calls are denied; default 7.
	Max   Bound[int]
	Share share.Scope // the runs whose calls count together

	mu     sync.Mutex
	recent kit.Aging[agent.Identity, []time.Time] // of counted calls, by owner, oldest first
	runs   hookkit.PerRun[throttled]
}

// A ThrottleLevel is a reaction to calls from the number From on, until the next level.
type ThrottleLevel struct {
	From int           // the number of a call in Window, from 1
	Wait time.Duration // before the call; 0: no wait
}

var throttleLevels = []ThrottleLevel{{From: 1}, {From: 3, Wait: 2 * time.Second}, {From: 5, Wait: 5 * time.Second}}

// throttled are the counted calls of the current step of a run.
type throttled struct {
	step    int
	numbers map[string]int // number of the call in the window, by ID
}

// Bind adds the hook to its points.
func (l *Throttle) Bind(h *agent.Hooks) {
	kit.MustConfig("limit.Throttle", l.check())
	watch := kit.WatchTools("limit.Throttle", kit.ToolNames("Tools", l.Tools)...).Only()
	watch.OnPermission(h, l, hookkit.Priority(hookkit.Safety))
	watch.AroundTool(h, l, hookkit.Priority(hookkit.Safety))
}

func (l *Throttle) check() error {
	if len(l.Tools) == 0 {
		return errors.New(`Tools is empty, so nothing would be throttled; name the tools, "*" for all`)
	}
	if l.Window == None || l.Window == AtMost(time.Duration(0)) {
		return errors.New("Window is none or 0; give the time for which a call counts, such as time.Minute")
	}
	for i, level := range l.Levels {
		if level.From < 1 || level.Wait < 0 || i > 0 && level.From <= l.Levels[i-1].From {
			return fmt.Errorf("Levels[%d] is {From: %d, Wait: %v}; give ascending From of 1 or more, and no negative Wait",
				i, level.From, level.Wait)
		}
	}
	return errors.Join(toolname.Check("Tools", l.Tools), l.Window.Check("Window"), l.Max.Check("Max"), l.Share.Check())
}

func (l *Throttle) window() time.Duration { return l.Window.Or(AtMost(time.Minute)) }

func (l *Throttle) most() int { return l.Max.Or(7) }

// level returns the level of a call by its number.
func (l *Throttle) level(number int) (level ThrottleLevel) {
	levels := l.Levels
	if levels == nil {
		levels = throttleLevels
	}
	for _, next := range levels {
		if number >= next.From {
			level = next
		}
	}
	return level
}

// OnPermission counts the call, or denies it if there were too many.
func (l *Throttle) OnPermission(
	_ context.Context, run *agent.Run, call agent.ToolCallRequest,
) (outcome agent.OnPermissionOutcome, err error) {
	if !toolname.Match(l.Tools, call.Name) {
		return nil, nil
	}
	l.runs.Do(run, func(t *throttled) {
		if t.step != call.Step || t.numbers == nil {
			t.step, t.numbers = call.Step, make(map[string]int)
		}
		if t.numbers[call.ID] > 0 { // the call was approved with other arguments
			return
		}
		number, wait := l.count(l.Share.Owner(run), kit.Env(run).Now())
		if number > 0 {
			t.numbers[call.ID] = number
			return
		}
		outcome = agent.Deny{Reason: fmt.Sprintf("%s was called too often: %d calls in %v are allowed. Try again in %v.",
			shorten.Line(call.Name, toolname.MaxDisplay), l.most(), l.window(), wait)}
	})
	return outcome, nil
}

// count counts a call and returns its number in the window. If it is one too many, it returns 0 and the time after
// which a call is possible again.
func (l *Throttle) count(owner agent.Identity, now time.Time) (number int, wait time.Duration) {
	window := l.window()
	l.mu.Lock()
	defer l.mu.Unlock()
	old := func(at time.Time) bool { return now.Sub(at) >= window }
	l.recent.Sweep(now, window, func(times []time.Time) bool { return old(times[len(times)-1]) })
	times := l.recent.Values[owner]
	for len(times) > 0 && old(times[0]) {
		times = times[1:]
	}
	if len(times) >= l.most() {
		if len(times) == 0 { // Max is 0
			return 0, window
		}
		l.recent.Values[owner] = times
		return 0, (window - now.Sub(times[0])).Round(time.Second)
	}
	times = append(times, now)
	if len(times) > maxCounted { // Max is huge or None
		times = times[1:]
	}
	l.recent.Values[owner] = times
	return len(times), 0
}

// maxCounted bounds the calls of an owner that are remembered.
const maxCounted = 10_000

// AroundTool waits if the calls come too often, and adds a warning to the result.
func (l *Throttle) AroundTool(
	ctx context.Context, run *agent.Run, call agent.ToolCallRequest, next agent.AroundToolNext,
) (hookkit.Answer[agent.ToolCallResult], error) {
	number := 0
	l.runs.Do(run, func(t *throttled) {
		if t.step == call.Step { // only the first attempt waits
			number = t.numbers[call.ID]
			delete(t.numbers, call.ID)
		}
	})
	level := l.level(number)
	if level.From == 0 {
		return next.Call(ctx, call)
	}
	if level.Wait > 0 {
		if err := kit.Env(run).Sleep(ctx, level.Wait); err != nil {
			return hookkit.Answer[agent.ToolCallResult]{}, err
		}
	}
	answer, err := next.Call(ctx, call)
	if err != nil {
		return answer, err
	}
	result := answer.Value()
	result.Warnings = append(slices.Clip(result.Warnings), l.warning(number, level.Wait))
	return hookkit.Answered(result), nil
}

func (l *Throttle) warning(number int, waited time.Duration) string {
	text := fmt.Sprintf("This was call %d of at most %d in %v.", number, l.most(), l.window())
	if l.Max == None {
		text = fmt.Sprintf("This was call %d in %v.", number, l.window())
	}
	if waited > 0 {
		text += fmt.Sprintf(" It was delayed by %v.", waited)
	}
	return text
}
