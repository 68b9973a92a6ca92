package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// tried returns the table of the tests that tried the promises of the security hooks, with their numbers of inputs. It
// runs these tests, which takes about a minute.
func tried(m meter) (string, error) {
	outcomes := map[string]map[string]*outcome{} // by room and name
	if m {
		for room, names := range testsByRoom() {
			fmt.Fprintf(os.Stderr, "%d tests of builtin/%s\n", len(names), room)
			var err error
			if outcomes[room], err = goTest(".", "builtin/"+room, names); err != nil {
				return "", err
			}
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s.\n\n| hook | tried with | inputs | as promised |\n|---|---|---:|---:|\n", m.made("trials"))
	for _, t := range trials {
		c := count{tried: 1}
		if m {
			var err error
			if c, err = t.count(outcomes[t.room]); err != nil {
				return "", err
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.hook, t.with, m.figure("%d", c.tried),
			m.figure("%s", share(c.kept, c.tried)))
	}
	return b.String(), nil
}

// testsByRoom returns the tests of all trials, each once.
func testsByRoom() map[string][]string {
	all := map[string][]string{}
	for _, t := range trials {
		all[t.room] = append(all[t.room], t.tests...)
	}
	for room, names := range all {
		slices.Sort(names)
		all[room] = slices.Compact(names)
	}
	return all
}

// A count is the result of a trial.
type count struct{ tried, kept int }

// count adds up the inputs of the tests, which have passed. A test that counts its inputs says so by the attributes
// tried and kept. The inputs of the others are their subtests.
func (t trial) count(outcomes map[string]*outcome) (count, error) {
	var sum count
	for _, name := range t.tests {
		o := outcomes[name]
		if o.Attrs["tried"] == "" {
			sum.tried, sum.kept = sum.tried+max(o.Listed, 1), sum.kept+max(o.Listed, 1)
			continue
		}
		tried, err := strconv.Atoi(o.Attrs["tried"])
		kept, err2 := strconv.Atoi(o.Attrs["kept"])
		if err = errors.Join(err, err2); err != nil || tried == 0 {
			return sum, fmt.Errorf("%s tried %d inputs: %w", name, tried, err)
		}
		sum.tried, sum.kept = sum.tried+tried, sum.kept+kept
	}
	return sum, nil
}

// A trial is a row of the table of trials: a security hook, and some tests that tried it.
type trial struct {
	hook  string // package and type
	with  string // the inputs
	room  string // the package of builtin that has the tests
	tests []string
}

// trials are the rows for all security hooks.
var trials = []trial{
	{"shell.Guard", "destructive and dangerous commands", "shell", []string{
		"TestGuardFindsDestructiveCommands", "TestGuardFindsCommandsInArguments",
	}},
	{"shell.Guard", "destructive commands, hidden within other commands", "shell", []string{
		"TestGuardFindsDisguisedCommands",
	}},
	{"shell.Guard", "everyday commands of coding agents", "shell", []string{
		"TestGuardAllowsOrdinaryCommands", "TestGuardAllowsHarmlessCommands",
	}},
	{"shell.Guard", "removals below and outside a workspace", "shell", []string{"TestWorkspaceRulesAllowRemovalsBelow"}},
	{"shell.Guard", "scripts that are too large to check", "shell", []string{"TestGuardDeniesOversizedCommands"}},
	{"shell.CommandGlob", "drawn commands that rules allowed, run in real shells", "shell", []string{
		"TestAllowedCommandsStartNothingElse",
	}},
	{"shell.CommandGlob", "known evasions", "shell", []string{"TestEvasionsAreNotAllowed"}},
	{"shell.CommandGlob", "harmless commands that rules must allow", "shell", []string{"TestHarmlessCommandsAreAllowed"}},
	{"shell.CommandGlob", "commands within others that rules must deny", "shell", []string{
		"TestDenyingGlobsFindCommandsAnywhere",
	}},
	{"shell.CommandGlob", "arguments that tools decode differently", "shell", []string{
		"TestAmbiguousArgumentsAreErrors", "TestNestedArgumentsAloneAreNotAllowed", "TestWordListsMayBeProcessAndText",
	}},
	{"permission.PathGlob", "drawn paths, compared with the file that the system opens", "permission", []string{
		"TestDrawnPathsLeadWhereRulesSay",
	}},
	{"permission.PathGlob", "notations of paths on Linux, macOS and Windows", "permission", []string{
		"TestPathsFollowTheRulesOfTheSystem", "TestAliasesOfWindowsAreDenied", "TestPathGlobComparesCleanedPaths",
		"TestPathGlobUnderHasItsOwnRoot", "TestFollowedLinksLeadToTheirFiles", "TestPathsThatToolsExpandAreDenied",
	}},
	{"permission.PathGlob", "arguments with paths", "permission", []string{"TestPathsAreFoundInEveryNamedArgument"}},
	{"permission.Rules", "drawn lists of rules, compared with their definition", "permission", []string{
		"TestDrawnRulesDecideByTheirDefinition",
	}},
	{"permission.Rules", "calls with several rules, votes and elements", "permission", []string{
		"TestTheFirstMatchingRuleDecides", "TestAllowRulesRequireEveryElement", "TestDenyBeatsAskAndAllow",
		"TestAnAskNeedsAnApproval",
	}},
	{"permission.Rules", "rules in files, right and wrong ones", "permission", []string{
		"TestRuleFilesAcceptFurtherConditions", "TestParseRulesReportsErrorsWithPosition",
	}},
	{"permission.DenyTools", "names of tools", "permission", []string{
		"TestDenyToolsDecidesByName", "TestACachedResultCannotBypassADenial",
	}},
	{"permission.ReadOnly", "tools with and without the mark", "permission", []string{
		"TestReadOnlyAllowsOnlyReadOnlyTools", "TestReadOnlyDeniesUnknownTools", "TestReadOnlyIsSwitchedDuringARun",
	}},
	{"permission.Policy", "answers and failures of an engine", "permission", []string{
		"TestPolicyFollowsItsProvider", "TestPolicyReceivesTheDispatchedCall",
	}},
	{"permission.Confirm", "calls, approvals and missing approvers", "permission", []string{
		"TestConfirmAsksAboutNamedTools", "TestConfirmDeniesWithoutAnApprover", "TestConfirmShowsTheRewrittenCall",
		"TestConfirmSkipsDeniedCalls",
	}},
	{"permission.Remember", "pairs of calls", "permission", []string{
		"TestRememberBindsToExactArguments", "TestRememberCachesAnswers", "TestRememberIgnoresLateAnswers",
	}},
	{"permission.Terminal", "answers, failures and concurrent questions", "permission", []string{
		"TestOnlyYesApproves", "TestTerminalReturnsErrors", "TestALateAnswerIsDiscarded",
		"TestNextLineAnswersCurrentQuestion", "TestTerminalQueuesQuestions", "TestTerminalReadsOnlyTheAnswer",
	}},
	{"permission.Terminal", "arguments with escapes and great length", "permission", []string{
		"FuzzCallTextEscapesControls", "TestCallTextDecodesArguments", "TestCallTextMarksTruncatedCalls",
	}},
	{"permission.ApprovalStop", "outputs of tools", "permission", []string{
		"TestApprovalStopIgnoresOtherOutputs", "TestApprovalStopReadsMalformedRequests",
		"TestTheFirstRequestedApprovalIsPending", "FuzzApprovalRequest",
	}},
	{"guardrail.Input", "drawn tasks with a blocked word", "guardrail", []string{"TestBlockedWordsAreFoundInDrawnTasks"}},
	{"guardrail.Input", "lists, tasks and failures of Match", "guardrail", []string{
		"TestInputRefusesRunsByTheirTask", "TestAFailingMatchRefusesTheRun",
	}},
	{"guardrail.Output", "outputs, warnings and failures", "guardrail", []string{
		"FuzzToolOutput", "TestWarningsAreValidatedToo", "TestARejectedOutputHasNoOtherContent",
		"TestPersonalDataOfFailuresAreRemoved",
	}},
	{"guardrail.Reply", "replies, rejections and failures", "guardrail", []string{
		"TestRepliesAreValidated", "TestARejectedReplyIsNeverShown", "TestReplyThatCannotBeCheckedIsWithheld",
	}},
	{"guardrail.RedactPersonal", "drawn personal data in each part of a result", "guardrail", []string{
		"TestDrawnPersonalDataReachesNoModel",
	}},
	{"guardrail.RedactPersonal", "forms of personal data", "redact", []string{
		"TestPersonalDataIsFoundByItsForm", "TestCardNumbersOfIssuersAreRedacted",
	}},
	{"guardrail.RedactPersonal", "numbers that are not personal data", "redact", []string{
		"TestNumbersOfNoIssuerStay", "TestLongNumbersStay",
	}},
	{"redact.Redactor", "texts of real formats, with drawn secrets", "redact", []string{
		"TestSecretsOfRealFormatsAreRedacted",
	}},
	{"redact.Redactor", "the same, cut or in pieces", "redact", []string{
		"TestHalfSecretsAreRedacted", "TestTruncatedTextsHaveNoHalfSecret", "TestStreamsHideSecretsAcrossPieces",
	}},
	{"redact.Redactor", "percent-encoded texts", "redact", []string{"TestPercentEncodedSecretsAreRedacted"}},
	{"redact.Redactor", "commands with passwords, also in JSON", "redact", []string{
		"TestOptionsOfCurlHaveAPassword", "TestProgramsHaveShortFlagsForPasswords", "TestCommandsInJSONHavePasswords",
		"TestPasswordsOnTheStandardInputAreRedacted",
	}},
	{"redact.Redactor", "ordinary texts", "redact", []string{
		"TestOrdinaryTextsStay", "TestOrdinaryLinesStay", "TestStreamsKeepOrdinaryTexts",
	}},
	{"redact.Redactor", "points and decisions, with a secret in each text", "record", []string{
		"TestNoRecordHasASecretOfPayload",
	}},
	{"record.Audit", "changes of each byte and line of a log", "record", []string{"TestEveryChangeOfALogIsFound"}},
	{"record.Audit", "games of a writer against drawn changes", "record", []string{"TestDrawnAttacksOnALogAreFound"}},
	{"record.Audit", "changes while the writer runs", "record", []string{"TestRunningAuditNoticesManipulations"}},
	{"record.Audit", "changes between two runs, with a head file", "record", []string{"TestHeadShowsWhatAChainCannot"}},
	{"builtin.Guards", "runs with and without the limits", "limit", []string{"TestGuardsLimitRunsUnlessDisabled"}},
	{"limit.Steps, limit.Tokens, limit.Time, limit.Tools", "endless models with drawn limits", "limit", []string{
		"TestEndlessModelsStayWithinDrawnLimits",
	}},
	{"limit.Steps, limit.Tokens, limit.Time, limit.Tools", "values at, below and above each limit", "limit", []string{
		"TestLimitsStopARunExactlyAtMax", "TestToolsRefusesCallsOverTheLimit", "TestToolsCountsParallelCallsExactly",
	}},
	{"limit.Throttle", "calls in turn, in parallel and of several owners", "limit", []string{
		"TestCallsSlowDownAndStop", "TestParallelCallsCountBeforeTheyRun", "TestThrottledCallsBelongToOwner",
		"TestThrottleCountsSelectedCalls", "TestThrottledCallEndsWithItsContext",
	}},
	{"limit.Cancellation, limit.FinishReason, limit.Warning", "sources, reasons and thresholds", "limit", []string{
		"TestCancellationStopsBeforeTheNextStep", "TestWarningUsesEachThresholdOncePerRun",
		"TestWarningUsesOneThresholdPerStep",
	}},
}
