package nats

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/loop"
)

// Approvals keeps suspended runs in a bucket until persons have answered their questions. No process waits meanwhile.
// It is safe for concurrent use, also by several processes.
//
// For example, a worker saves the state of a suspended run. A web page lists the questions and stores the answer of a
// person. A worker that watches the answers takes the run and resumes it with loop.Agent.Resume.
//
// Approvals does not know who may answer: the program checks that before it calls Answer. The stored states contain
// conversations, and whoever can change one decides what its run does: give the bucket to programs that you trust.
type Approvals struct {
	Bucket *Bucket
}

const approvalKeys = "approval"

// A SuspendedRun is a run that waits, with the answers so far.
type SuspendedRun struct {
	agent.Suspension
	Answers []loop.Answer `json:"answers,omitempty"`
}

// Unanswered returns the questions without an answer.
func (s SuspendedRun) Unanswered() []agent.Question {
	return slices.DeleteFunc(slices.Clone(s.Questions), func(q agent.Question) bool { return s.answered(q.ID) })
}

func (s SuspendedRun) answered(question string) bool {
	return slices.ContainsFunc(s.Answers, func(a loop.Answer) bool { return a.Question == question })
}

func approvalKey(owner agent.Identity, id string) string { return boundedKey(approvalKeys, owner, id) }

// storedRun is the value of a suspended run. It has the names of the owner as bytes too, because JSON does not keep
// those that are not UTF-8.
type storedRun struct {
	SuspendedRun
	Names [3][]byte `json:"names"`
}

// encode returns the value to store.
func (s SuspendedRun) encode() ([]byte, error) {
	names := [3][]byte{[]byte(s.Owner.Tenant), []byte(s.Owner.User), []byte(s.Owner.Conversation)}
	return json.Marshal(storedRun{s, names})
}

// Save stores a suspended run. A state of the same ID that is stored already is a *Conflict.
func (a Approvals) Save(ctx context.Context, s agent.Suspension) error {
	if s.ID == "" {
		return errors.New("the suspended run has no ID; pass AgentResult.Suspended as it is")
	}
	text, err := SuspendedRun{Suspension: s}.encode()
	if err == nil {
		_, err = a.Bucket.Create(ctx, approvalKey(s.Owner, s.ID), text)
	}
	if err != nil {
		return fmt.Errorf("the suspended run %.80q cannot be saved: %w", s.ID, err)
	}
	return nil
}

// Get returns a suspended run by its owner and [agent.Suspension].ID, or a *agent.NotFound.
func (a Approvals) Get(ctx context.Context, owner agent.Identity, id string) (SuspendedRun, error) {
	e, err := a.Bucket.Get(ctx, approvalKey(owner, id))
	if err != nil {
		return SuspendedRun{}, missing(err, id)
	}
	return suspendedRun(e)
}

// suspendedRun reads a stored run.
func suspendedRun(e Entry) (SuspendedRun, error) {
	var stored storedRun
	err := json.Unmarshal(e.Value, &stored)
	s := stored.SuspendedRun
	s.Owner = agent.Identity{
		Tenant: string(stored.Names[0]), User: string(stored.Names[1]), Conversation: string(stored.Names[2]),
	}
	if err == nil && approvalKey(s.Owner, s.ID) != e.Key {
		err = errors.New("it is stored under another key")
	}
	if err != nil {
		return SuspendedRun{}, fmt.Errorf("the suspended run under %.80q is corrupt: %w; delete it", e.Key, err)
	}
	return s, nil
}

// Answer stores answers to questions of a suspended run, and returns the run. The first answer to a question counts: a
// second one is an error, as is an answer to another question or with the digest of another call. A missing run is a
// *agent.NotFound, perhaps because it was taken.
func (a Approvals) Answer(
	ctx context.Context, owner agent.Identity, id string, answers ...loop.Answer,
) (s SuspendedRun, err error) {
	err = a.Bucket.retry(ctx, func(ctx context.Context) error {
		e, err := a.Bucket.Get(ctx, approvalKey(owner, id))
		if err == nil {
			s, err = suspendedRun(e)
		}
		for i := 0; i < len(answers) && err == nil; i++ {
			err = s.add(answers[i])
		}
		var text []byte
		if err == nil {
			text, err = s.encode()
		}
		if err == nil {
			_, err = a.Bucket.Update(ctx, e.Key, text, e.Revision)
		}
		return err
	})
	if err != nil {
		return SuspendedRun{}, fmt.Errorf("the answer to the suspended run %.80q is not stored: %w", id, missing(err, id))
	}
	return s, nil
}

// add adds an answer.
func (s *SuspendedRun) add(answer loop.Answer) error {
	i := slices.IndexFunc(s.Questions, func(q agent.Question) bool { return q.ID == answer.Question })
	switch {
	case i < 0:
		return fmt.Errorf("it has no question %.80q", answer.Question)
	case s.Questions[i].Digest != answer.Digest:
		return fmt.Errorf("the answer to %.80q is about another call: its digest differs", answer.Question)
	case answer.Pending:
		return fmt.Errorf("the answer to %.80q is pending; give it later", answer.Question)
	case s.answered(answer.Question):
		return fmt.Errorf("the question %.80q has an answer already", answer.Question)
	}
	s.Answers = append(slices.Clip(s.Answers), answer)
	return nil
}

// Take removes a suspended run and returns it with its answers, or a *agent.NotFound. If several processes take the
// same run, one of them gets it. If that process dies before it has resumed the run, the run is gone: a worker that
// must survive keeps a copy of its own before it takes the run. If loop.Agent.Resume refuses the run, and the error
// matches loop.ErrNotStarted, save the Suspension again.
func (a Approvals) Take(ctx context.Context, owner agent.Identity, id string) (SuspendedRun, error) {
	e, err := a.Bucket.take(ctx, approvalKey(owner, id))
	if err != nil {
		return SuspendedRun{}, missing(err, id)
	}
	return suspendedRun(e)
}

// List returns the suspended runs of all owners, those first that were changed least recently.
func (a Approvals) List(ctx context.Context) (all []SuspendedRun, err error) {
	entries, err := a.Bucket.bounded(ctx, approvalKeys+"/")
	for _, e := range entries {
		s, failed := suspendedRun(e)
		if err = errors.Join(err, failed); failed == nil {
			all = append(all, s)
		}
	}
	return all, err
}

// Watch yields the suspended runs of all owners, and then each that is saved or gets an answer, as [Bucket.Watch] does.
// A run that cannot be read is yielded as an error, and others follow.
func (a Approvals) Watch(ctx context.Context) iter.Seq2[SuspendedRun, error] {
	return func(yield func(SuspendedRun, error) bool) {
		for e, err := range a.Bucket.changes(ctx, approvalKeys+"/", filterOf(approvalKeys+"/")) {
			var s SuspendedRun
			if err == nil && (e.Deleted || !strings.HasPrefix(e.Key, approvalKeys)) {
				continue
			}
			if err == nil {
				s, err = suspendedRun(e)
			}
			if !yield(s, err) {
				return
			}
		}
	}
}
