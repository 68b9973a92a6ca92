// A guard in TypeScript: messages go to teams only.
//
// It reads one request per line and writes one reply per line. The compiler compares the replies with hooks.ts, which
// quicktype made from the spec.

import { createInterface } from "node:readline";
import type { BeforeSendReplyContinue, BeforeSendReplyRefuse, Message } from "./hooks";

function guard(message: Message): BeforeSendReplyContinue | BeforeSendReplyRefuse {
  if (message.to.startsWith("team-")) {
    return { decision: "continue" };
  }
  return { decision: "Refuse", value: { reason: "not to strangers" } };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const request: { id: number; payload: Message } = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, ...guard(request.payload) }));
});
