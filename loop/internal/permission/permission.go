// Package permission turns the outcomes of hooks and the answers of persons into a decision about a tool call. Packages
// loop and adapt fire the points and wait for the answers in their own ways. Models and persons read the same texts
// from both. Start with [Vote].
package permission

import (
	"cmp"
	"fmt"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// Cancelled is the reason of a denial if the run ends before the approver answers.
const Cancelled = "the run was cancelled before there was an answer"

// Vote returns the result of a fire of OnPermission: an Ask, or a denial, or neither if the call is allowed.
func Vote(exit agent.OnPermissionExit, by hookkit.By, err error) (*agent.Ask, agent.Denial) {
	if err != nil {
		return nil, failed(by, err)
	}
	switch exit := exit.(type) {
	case nil, agent.Allow:
		return nil, agent.Denial{}
	case agent.Ask:
		if err := agentspec.CheckChoices(exit.Choices); err != nil {
			return nil, failed(by, err)
		}
		return &exit, agent.Denial{}
	default:
		deny, _ := exit.(agent.Deny)
		return nil, agent.Denial{Kind: agent.DeniedByVote, By: by.Hook, Reason: deny.Reason}
	}
}

// Answer returns the result of a fire of BeforeAsk. decided is false if no hook answered, so that the approver is
// asked. A refusal and a failure come with a denial.
func Answer(exit agent.BeforeAskExit, by hookkit.By, err error) (
	answer agent.Approval, decided bool, denied agent.Denial,
) {
	if err != nil {
		return answer, true, failed(by, err)
	}
	switch exit := exit.(type) {
	case nil:
		return answer, false, denied
	case agent.Approve:
		return agent.Approval{Allow: true, Reason: exit.Reason, Args: exit.Args, Remember: exit.Remember}, true, denied
	default:
		refuse, _ := exit.(agent.Refuse)
		denied = agent.Denial{Kind: agent.DeniedByAnswer, By: by.Hook, Reason: Declined(refuse.Reason)}
		return agent.Approval{Reason: refuse.Reason, StopRun: refuse.StopRun}, true, denied
	}
}

func failed(by hookkit.By, err error) agent.Denial {
	return agent.Denial{Kind: agent.DeniedByHook, By: by.Hook, Reason: err.Error()}
}

// Unasked is the reason of a denial if there is no approver.
func Unasked(question agent.Question) string {
	if question.Reason == "" {
		return "there is nobody to ask"
	}
	return "there is nobody to ask: " + question.Reason
}

// Failed is the reason of a denial if the approver fails.
func Failed(err error) string { return "the approver failed: " + err.Error() }

// Later is the reason of a denial if the answer comes later, and the caller cannot wait for it. who names the caller,
// for example "this run".
func Later(who string) string { return "the answer comes later, and " + who + " cannot wait for it" }

// ByPerson returns the denial of a call after a person's answer. Its kind is empty if the answer is yes.
func ByPerson(question agent.Question, answer agent.Approval) agent.Denial {
	denied := agent.Denial{By: question.By, AnsweredBy: answer.By, AnsweredAt: answer.At}
	if !answer.Allow {
		denied.Kind, denied.Reason = agent.DeniedByPerson, Declined(answer.Reason)
	}
	return denied
}

// Declined is the reason of a person or a hook that says no.
func Declined(reason string) string { return cmp.Or(reason, "declined") }

// Unusable returns the denial of a call whose approval changed the arguments to something that is not allowed. by is
// the hook that answered, or empty for the approver.
func Unusable(by, problem string) agent.Denial {
	kind := agent.DeniedByApprover
	if by != "" {
		kind = agent.DeniedByHook
	}
	return agent.Denial{Kind: kind, By: by, Reason: "the approval changed the arguments: " + problem}
}

// Consistent returns the denial of a call whose approval is not one of the choices of the question, or has both other
// arguments and an output in place of the tool.
func Consistent(by string, question agent.Question, answer agent.Approval) agent.Denial {
	if answer.Output != "" && len(answer.Args) > 0 {
		return Unusable(by, "it also has an output in place of the tool; give one of them")
	}
	if err := question.Check(answer); err != nil {
		denied := Unusable(by, "")
		denied.Reason = err.Error()
		return denied
	}
	return agent.Denial{}
}

// Instead is the reason of the result that a person gave in place of the tool.
func Instead(answer agent.Approval) string {
	return cmp.Or(answer.Reason, "a person answered in place of the tool")
}

// ChangedAgain returns the denial of a call whose changed arguments a second approval, by a hook, changed once more.
func ChangedAgain(by string) agent.Denial {
	return agent.Denial{Kind: agent.DeniedByHook, By: by, Reason: "the approved arguments were changed once more"}
}

// Message is the text for the model about a denied call.
func Message(tool, reason string) string {
	return fmt.Sprintf("Permission denied for tool '%s': %s", tool, reason)
}
