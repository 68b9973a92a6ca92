"""Denies calls that write a file whose name begins with a dot, for example .env."""

import json
import os.path
import sys

call = json.load(sys.stdin)["payload"]
reply = {"decision": "continue"}
if os.path.basename(call["args"]["path"]).startswith("."):
    reply = {"decision": "Deny", "value": {"reason": "hidden files are not for agents"}}
json.dump(reply, sys.stdout)
