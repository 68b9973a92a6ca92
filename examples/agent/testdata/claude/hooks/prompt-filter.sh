#!/bin/sh
# Refuses prompts that contain a key, so that it is not sent to the model.
if grep -Eq '"prompt":"[^"]*(sk-[A-Za-z0-9]{8}|'"${BLOCKED_WORD:-password}"')' ; then
	echo "The prompt contains a secret. Remove it and try again." >&2
	exit 2
fi
