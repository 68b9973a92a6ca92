package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/hookgen/hookgen/builtin/session"
	"github.com/hookgen/hookgen/contrib/sqlite"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// suspendedRuns is the prefix of the keys of a conversation's suspended runs.
func suspendedRuns(o options) string { return "suspended/" + url.PathEscape(o.conversation) + "/" }

// suspend stores a suspended run and prints its questions.
func suspend(ctx context.Context, store sqlite.Store, o options, s agent.Suspension, out io.Writer) error {
	if store.DB == nil {
		return errors.New("the run is suspended, but there is no -store to keep it")
	}
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := store.Put(ctx, suspendedRuns(o)+s.ID, text); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nThe run is stored in %s and waits for answers:\n", o.store)
	for _, q := range s.Questions {
		fmt.Fprintf(out, "  %s %s\n    -resume -approve %s\n", summary(q.Call), clean(q.Reason), q.ID)
	}
	return nil
}

// stored returns the request for a conversation in the store. With -resume that is the suspended run with the
// answers, or else the task of an interrupted run, which session.Checkpoint continues.
func stored(
	ctx context.Context, store sqlite.Store, o options, approver agent.Approver, out io.Writer,
) (loop.Request, error) {
	request := loop.Request{Task: o.task, Conversation: o.conversation}
	keys, err := store.Keys(ctx, suspendedRuns(o))
	switch {
	case err != nil:
		return request, err
	case len(keys) > 0 && !o.resume:
		return request, fmt.Errorf("conversation %q waits for an answer; use -resume", o.conversation)
	case len(keys) > 0:
		return answered(ctx, store, keys[0], o, approver, out)
	case len(o.approve)+len(o.deny) > 0:
		return request, fmt.Errorf("conversation %q has no open question", o.conversation)
	case !o.resume || o.task != "":
		return request, nil
	}
	last, err := session.Latest(ctx, store, agent.Identity{Conversation: o.conversation})
	if errors.As(err, new(*agent.NotFound)) {
		return request, fmt.Errorf("conversation %q has no run to resume; give a task to continue it", o.conversation)
	}
	request.Task = last.Task
	return request, err
}

// answered takes a suspended run out of the store and returns the request that continues it. The questions that
// -approve and -deny do not name are asked first, so that the run stays in the store if nobody answers.
func answered(
	ctx context.Context, store sqlite.Store, key string, o options, approver agent.Approver, out io.Writer,
) (loop.Request, error) {
	text, err := store.Get(ctx, key)
	if err != nil {
		return loop.Request{}, resumedElsewhere(err)
	}
	var s agent.Suspension
	if err := json.Unmarshal(text, &s); err != nil {
		return loop.Request{}, err
	}
	for _, id := range slices.Concat(o.approve, o.deny) {
		if !slices.ContainsFunc(s.Questions, func(q agent.Question) bool { return q.ID == id }) {
			return loop.Request{}, fmt.Errorf("conversation %q has no question %s", o.conversation, id)
		}
	}
	var answers []loop.Answer
	for _, q := range s.Questions {
		var a agent.Approval
		switch {
		case slices.Contains(o.deny, q.ID):
			a.Reason = "denied with -deny"
		case slices.Contains(o.approve, q.ID):
			a.Allow = true
		default:
			if a, err = approver.Approve(ctx, q); err != nil {
				return loop.Request{}, err
			}
		}
		if !a.Pending {
			answers = append(answers, loop.AnswerTo(q, a))
		}
	}
	if len(answers) == 0 {
		return loop.Request{}, fmt.Errorf("conversation %q has %d open questions, and none is answered", o.conversation,
			len(s.Questions))
	}
	taken, err := store.Swap(ctx, key, text, nil)
	if err == nil && !taken {
		err = &agent.NotFound{Key: key}
	}
	if err != nil {
		return loop.Request{}, resumedElsewhere(err)
	}
	return loop.Request{Suspended: &s, Answers: answers}, nil
}

// resumedElsewhere explains that a run is not in the store any more. Two persons may answer at the same time, each in a
// process of their own.
func resumedElsewhere(err error) error {
	if errors.As(err, new(*agent.NotFound)) {
		return fmt.Errorf("another process has resumed the run: %w", err)
	}
	return err
}
