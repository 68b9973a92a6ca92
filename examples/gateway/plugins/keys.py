"""A plug-in in Python: a request needs a key. It reads and writes one JSON object per line."""

import json
import sys

for line in sys.stdin:
    request = json.loads(line)
    if request.get("describe"):
        reply = {"protocol": 1, "spec": "example.com/gateway/points", "points": ["Authenticate"]}
    elif request["payload"]["Header"].get("X-Key") == ["secret"]:
        reply = {"decision": "continue"}
    else:
        reply = {"decision": "Reject", "value": {"Reason": "no key"}}
    print(json.dumps({"id": request["id"], **reply}), flush=True)
