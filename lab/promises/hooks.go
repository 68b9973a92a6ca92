package main

// A hook is a row of the table of promises.
type hook struct {
	name    string // package and type
	promise string
	against string
	not     string
	trials  []trial
}

// A trial is a row of the table of trials: some tests of a package.
type trial struct {
	with  string // the inputs
	dir   string // of the package, relative to the root
	tests []string
}

const (
	shell      = "builtin/shell"
	permission = "builtin/permission"
	screen     = "builtin/screen"
	limit      = "builtin/limit"
	redact     = "builtin/redact"
	record     = "builtin/record"
)

// hooks are all security hooks. A test compares them with the packages.
var hooks = []hook{
	{
		name:    "shell.Guard",
		promise: "Commands that destroy data, stop the machine or open it to others are denied.",
		against: "accidents of a model",
		not:     "To find each command that is hidden on purpose, for example compressed within a Python program.",
		trials: []trial{
			{"destructive and dangerous commands", shell,
				[]string{"TestGuardDeniesDestructiveCommands", "TestGuardDeniesDestructiveForms",
					"TestGuardDeniesDangerousCommands", "TestGuardFindsCommandsInArguments"}},
			{"destructive commands, hidden within other commands", shell, []string{"TestGuardFindsDisguisedCommands"}},
			{"everyday commands of coding agents", shell, []string{"TestGuardAllowsOrdinaryCommands",
				"TestGuardAllowsHarmlessCommands"}},
			{"removals below and outside a workspace", shell, []string{"TestWorkspaceRulesAllowRemovalsBelow"}},
			{"scripts that are too large to check", shell, []string{"TestGuardDeniesOversizedCommands"}},
		},
	},
	{
		name: "shell.CommandGlob",
		promise: "A text that a rule allows starts no program but those of its globs, and writes no file by a redirection, " +
			"in bash and dash.",
		against: "a model that tries to run something else",
		not:     "Limits for an allowed program, or for what it starts itself.",
		trials: []trial{
			{"drawn commands that rules allowed, run in real shells", shell, []string{"TestAllowedCommandsStartNothingElse"}},
			{"known evasions", shell, []string{"TestEvasionsAreNotAllowed"}},
			{"harmless commands that rules must allow", shell, []string{"TestHarmlessCommandsAreAllowed"}},
			{"commands within others that rules must deny", shell, []string{"TestDenyingGlobsFindCommandsAnywhere"}},
			{"arguments that tools decode differently", shell, []string{"TestAmbiguousArgumentsAreErrors",
				"TestNestedArgumentsAloneAreNotAllowed", "TestWordListsMayBeProcessAndText"}},
		},
	},
	{
		name: "permission.PathGlob",
		promise: "A rule that allows matches only paths below its globs, and a rule that denies matches each notation of a " +
			"path; with FollowLinks also through symbolic links.",
		against: "a model that writes a path in another way",
		not: "That a link stays the same until the tool opens it, and that firmlinks and both forms of é match on " +
			"macOS.",
		trials: []trial{
			{"drawn paths, compared with the file that the system opens", permission,
				[]string{"TestDrawnPathsLeadWhereRulesSay"}},
			{"notations of paths on Linux, macOS and Windows", permission, []string{"TestPathsFollowTheRulesOfTheSystem",
				"TestAliasesOfWindowsAreDenied", "TestPathGlobComparesCleanedPaths", "TestPathGlobUnderHasItsOwnRoot",
				"TestFollowedLinksLeadToTheirFiles", "TestPathsThatToolsExpandAreDenied"}},
			{"arguments with paths", permission, []string{"TestPathsAreFoundInEveryNamedArgument"}},
		},
	},
	{
		name: "permission.Rules",
		promise: "The first rule that matches decides. A rule that denies also matches arguments that it cannot read; " +
			"a rule that allows never does.",
		against: "calls that no rule foresaw",
		not:     "That the rules are the right ones.",
		trials: []trial{
			{"drawn lists of rules, compared with their definition", permission,
				[]string{"TestDrawnRulesDecideByTheirDefinition"}},
			{"calls with several rules, votes and elements", permission, []string{"TestTheFirstMatchingRuleDecides",
				"TestAllowRulesRequireEveryElement", "TestDenyBeatsAskAndAllow", "TestAnAskNeedsAnApproval"}},
			{"rules in files, right and wrong ones", permission, []string{"TestRuleFilesAcceptFurtherConditions",
				"TestParseRulesReportsErrorsWithPosition"}},
		},
	},
	{
		name:    "permission.DenyTools",
		promise: "Tools that are denied, or are not in the list of the allowed ones, never run.",
		against: "a model that calls another tool",
		not:     "A decision by the arguments.",
		trials: []trial{{"names of tools", permission, []string{"TestDenyToolsDecidesByName",
			"TestACachedResultCannotBypassADenial"}}},
	},
	{
		name:    "permission.ReadOnly",
		promise: "While it is on, only tools run that are marked as read-only or listed.",
		against: "tools that change something during planning",
		not:     "That a tool marked as read-only changes nothing.",
		trials: []trial{{"tools with and without the mark", permission, []string{"TestReadOnlyAllowsOnlyReadOnlyTools",
			"TestReadOnlyDeniesUnknownTools", "TestReadOnlyIsSwitchedDuringARun"}}},
	},
	{
		name:    "permission.Policy",
		promise: "A call runs only if the policy engine allowed it as it is dispatched. A failure of the engine denies.",
		against: "an engine that fails or panics, and hooks that rewrite the call",
		not:     "A time limit for the engine.",
		trials: []trial{{"answers and failures of an engine", permission, []string{"TestPolicyFollowsItsProvider",
			"TestPolicyReceivesTheDispatchedCall"}}},
	},
	{
		name:    "permission.Confirm",
		promise: "A named tool runs only after an approval of the call as it is dispatched.",
		against: "a model that acts without its user, and hooks that rewrite the call",
		not:     "That the person reads the question.",
		trials: []trial{{"calls, approvals and missing approvers", permission, []string{"TestConfirmAsksAboutNamedTools",
			"TestConfirmDeniesWithoutAnApprover", "TestConfirmShowsTheRewrittenCall", "TestConfirmSkipsDeniedCalls"}}},
	},
	{
		name:    "permission.Remember",
		promise: "An approval answers only later calls of the same tool with equal arguments.",
		against: "arguments that look equal to one decoder and not to another",
		not:     "That the approved call does the same again.",
		trials: []trial{{"pairs of calls", permission, []string{"TestRememberBindsToExactArguments",
			"TestRememberCachesAnswers", "TestRememberIgnoresLateAnswers"}}},
	},
	{
		name: "permission.Terminal",
		promise: "Only y and yes approve, and each answer belongs to the question that is on the screen. Arguments cannot " +
			"control the terminal.",
		against: "control characters in arguments, late answers, and concurrent questions",
		not:     "That nobody else types.",
		trials: []trial{
			{"answers, failures and concurrent questions", permission, []string{"TestOnlyYesApproves",
				"TestTerminalReturnsErrors", "TestALateAnswerIsDiscarded", "TestNextLineAnswersCurrentQuestion",
				"TestTerminalQueuesQuestions", "TestTerminalReadsOnlyTheAnswer"}},
			{"arguments with escapes and great length", permission, []string{"FuzzCallTextEscapesControls",
				"TestCallTextDecodesArguments", "TestCallTextMarksTruncatedCalls"}},
		},
	},
	{
		name:    "permission.ApprovalStop",
		promise: "A turn ends when a tool requests an approval, and the request is not mistaken for another output.",
		against: "outputs that resemble requests",
		not:     "That the tool waits for the approval.",
		trials: []trial{{"outputs of tools", permission, []string{"TestApprovalStopIgnoresOtherOutputs",
			"TestApprovalStopReadsMalformedRequests", "TestTheFirstRequestedApprovalIsPending", "FuzzApprovalRequest"}}},
	},
	{
		name:    "screen.Input",
		promise: "A run does not begin if its task has a blocked word in any case, or none of the allowed ones.",
		against: "tasks of users",
		not:     "To understand a task. Other spellings and languages pass.",
		trials: []trial{
			{"drawn tasks with a blocked word", screen, []string{"TestBlockedWordsAreFoundInDrawnTasks"}},
			{"lists, tasks and failures of Match", screen, []string{"TestInputRefusesRunsByTheirTask",
				"TestAFailingMatchRefusesTheRun"}},
		},
	},
	{
		name:    "screen.Output",
		promise: "The model sees no output that a validator rejected or could not check, and no part of it.",
		against: "outputs of tools, and validators that fail",
		not:     "To look at images and other parts.",
		trials: []trial{{"outputs, warnings and failures", screen, []string{"FuzzToolOutput", "TestWarningsAreValidatedToo",
			"TestARejectedOutputHasNoOtherContent", "TestPersonalDataOfFailuresAreRemoved"}}},
	},
	{
		name:    "screen.Reply",
		promise: "Neither the caller nor the stored conversation gets a reply that a validator rejected or could not check.",
		against: "replies of models, and validators that fail",
		not:     "To check the pieces of a streamed reply, which the reader has seen before.",
		trials: []trial{{"replies, rejections and failures", screen, []string{"TestRepliesAreValidated",
			"TestARejectedReplyIsNeverShown", "TestReplyThatCannotBeCheckedIsWithheld"}}},
	},
	{
		name: "screen.RedactPersonal",
		promise: "E-mail addresses, telephone and social security numbers, and card and bank account numbers in the " +
			"results of tools do not reach the model.",
		against: "outputs, warnings and errors of tools",
		not:     "To find names and addresses of people.",
		trials: []trial{
			{"drawn personal data in each part of a result", screen, []string{"TestDrawnPersonalDataReachesNoModel"}},
			{"forms of personal data", redact, []string{"TestPersonalDataIsFoundByItsForm",
				"TestCardNumbersOfIssuersAreRedacted"}},
			{"numbers that are not personal data", redact, []string{"TestNumbersOfNoIssuerStay", "TestLongNumbersStay"}},
		},
	},
	{
		name:    "redact.Redactor",
		promise: "Records, traces and logs have no secret of a known form, also if it was cut or arrives in pieces.",
		against: "secrets in tasks, replies, arguments and outputs",
		not:     "To find a secret that only its meaning shows, or that is in base64. [Redaction](redaction.md) has more.",
		trials: []trial{
			{"texts of real formats, with drawn secrets", redact, []string{"TestSecretsOfRealFormatsAreRedacted"}},
			{"the same, cut or in pieces", redact, []string{"TestHalfSecretsAreRedacted",
				"TestTruncatedTextsHaveNoHalfSecret", "TestStreamsHideSecretsAcrossPieces"}},
			{"percent-encoded texts", redact, []string{"TestPercentEncodedSecretsAreRedacted"}},
			{"commands with passwords, also in JSON", redact, []string{"TestOptionsOfCurlHaveAPassword",
				"TestProgramsHaveShortFlagsForPasswords", "TestCommandsInJSONHavePasswords",
				"TestPasswordsOnTheStandardInputAreRedacted"}},
			{"ordinary texts", redact, []string{"TestOrdinaryTextsStay", "TestOrdinaryLinesStay",
				"TestStreamsKeepOrdinaryTexts"}},
			{"points and decisions, with a secret in each text", record, []string{"TestNoRecordHasASecretOfPayload"}},
		},
	},
	{
		name: "record.Audit",
		promise: "With a key, VerifyAudit finds each record that was changed, inserted, moved or removed; at the end of " +
			"the log with a head that was noted elsewhere. While the writer runs, it finds changes at the end, too.",
		against: "somebody who can write the file and has no key",
		not:     "That records cannot be removed. Without a key, records can be forged.",
		trials: []trial{
			{"changes of each byte and line of a log", record, []string{"TestEveryChangeOfALogIsFound"}},
			{"games of a writer against drawn changes", record, []string{"TestDrawnAttacksOnALogAreFound"}},
			{"changes while the writer runs", record, []string{"TestRunningAuditNoticesManipulations"}},
			{"changes between two runs, with a head file", record, []string{"TestHeadShowsWhatAChainCannot"}},
		},
	},
	{
		name:    "builtin.Guards",
		promise: "A run ends at its limits of steps, tokens and time.",
		against: "a model that never finishes",
		not:     "To interrupt a call. Give its context a deadline.",
		trials:  []trial{{"runs with and without the limits", limit, []string{"TestGuardsLimitRunsUnlessDisabled"}}},
	},
	{
		name:    "limit.Steps, limit.Tokens, limit.Time, limit.Tools",
		promise: "No step begins after the limit, and no tool is called more often, even in parallel.",
		against: "a model that never finishes",
		not:     "That the last step stays below the limit of tokens or time, because its use is known afterwards.",
		trials: []trial{
			{"endless models with drawn limits", limit, []string{"TestEndlessModelsStayWithinDrawnLimits"}},
			{"values at, below and above each limit", limit, []string{"TestLimitsStopARunExactlyAtMax",
				"TestToolsRefusesCallsOverTheLimit", "TestToolsCountsParallelCallsExactly"}},
		},
	},
	{
		name:    "limit.Throttle",
		promise: "Calls that come too often wait, and then are denied, over all runs of an owner.",
		against: "a model that reads or changes much in a short time",
		not:     "To stop a slow reader, or to remember calls after the program has ended.",
		trials: []trial{{"calls in turn, in parallel and of several owners", limit, []string{"TestCallsSlowDownAndStop",
			"TestParallelCallsCountBeforeTheyRun", "TestThrottledCallsBelongToOwner", "TestThrottleCountsSelectedCalls",
			"TestThrottledCallEndsWithItsContext"}}},
	},
	{
		name:    "limit.Cancellation, limit.FinishReason, limit.Warning",
		promise: "A run ends before its next step after a cancellation or a finish reason. The model is warned in time.",
		against: "runs that nobody waits for",
		not:     "To interrupt a call.",
		trials: []trial{{"sources, reasons and thresholds", limit, []string{"TestCancellationStopsBeforeTheNextStep",
			"TestWarningUsesEachThresholdOncePerRun", "TestWarningUsesOneThresholdPerStep"}}},
	},
}
