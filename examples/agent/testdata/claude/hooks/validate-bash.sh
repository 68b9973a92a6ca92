#!/bin/sh
# Refuses commands that remove files, and asks about builds.
input=$(cat)
case "$input" in
*'"command":"rm '*)
	echo "Do not remove files. Rebuild the cache instead." >&2
	exit 2
	;;
*'"command":"build '*)
	printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask",'
	printf '"permissionDecisionReason":"A build takes an hour."}}\n'
	;;
esac
