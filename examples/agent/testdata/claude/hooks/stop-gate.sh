#!/bin/sh
# Lets the agent finish only after a build. It reads the transcript, as many gates do.
input=$(cat)
transcript=$(printf '%s' "$input" | sed 's/.*"transcript_path":"\([^"]*\)".*/\1/')
case "$input" in
*'"stop_hook_active":true'*) exit 0 ;; # do not reject twice
esac
if ! grep '"role":"assistant"' "$transcript" | grep -q '"command":"'"${GATE_COMMAND:-build}"; then
	echo "Run ${GATE_COMMAND:-build} before you finish." >&2
	exit 2
fi
