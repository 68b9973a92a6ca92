#!/bin/sh
# A guard in shell: messages go to teams only. It is started for each fire, and needs jq.
exec jq -c 'if .payload.to | startswith("team-")
	then {decision: "continue"}
	else {decision: "Refuse", value: {reason: "not to strangers"}}
	end'
