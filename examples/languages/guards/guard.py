"""A guard in Python: messages go to teams only.

It reads one request per line and writes one reply per line. A type checker
compares the replies with hooks.py, which quicktype made from the spec.
"""

import json
import sys

from hooks import (
    BeforeSendReplyContinue,
    BeforeSendReplyRefuse,
    DecisionContinue,
    DecisionRefuse,
    Message,
    Refuse,
)


def guard(message: Message) -> BeforeSendReplyContinue | BeforeSendReplyRefuse:
    if message.to.startswith("team-"):
        return BeforeSendReplyContinue(DecisionContinue.CONTINUE)
    return BeforeSendReplyRefuse(DecisionRefuse.REFUSE, Refuse("not to strangers"))


for line in sys.stdin:
    request = json.loads(line)
    reply = guard(Message.from_dict(request["payload"])).to_dict()
    print(json.dumps({"id": request["id"], **reply}), flush=True)
