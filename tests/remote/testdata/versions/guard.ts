// A guard that changes the field To: guard.js STYLE. The compiler compares it with hooks.ts, which quicktype made of
// the schemas of a version of the spec. The styles are those of guard.py.

import { createInterface } from "node:readline";
import type { BeforeSendReplyPatch, BeforeSendReplyReplace, Message, MessageStrict } from "./hooks";

const style = process.argv[2];
const known: (keyof MessageStrict)[] = [/* FIELDS */];

function decide(message: Message): BeforeSendReplyPatch | BeforeSendReplyReplace {
  if (style === "patch") {
    return { decision: "patch", value: { To: "changed" } };
  }
  const all = { ...message, To: "changed" };
  const part = Object.fromEntries(known.map((k) => [k, all[k]])) as unknown as MessageStrict;
  return { decision: "replace", value: style === "build" ? part : all };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const request: { id: number; payload: Message } = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, ...decide(request.payload) }));
});
