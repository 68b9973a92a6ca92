// A guard that changes the field To, as a TypeScript program is after its compilation: guard.mjs STYLE lines FIELDS.
// The styles are those of guard.py.

import { createInterface } from "node:readline";

const [style, , fields] = process.argv.slice(2);

function decide(payload) {
  if (style === "patch") {
    return { decision: "patch", value: { To: "changed" } };
  }
  const known = fields.split(",");
  const value = style === "build" ? Object.fromEntries(Object.entries(payload).filter(([k]) => known.includes(k))) : payload;
  return { decision: "replace", value: { ...value, To: "changed" } };
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const request = JSON.parse(line);
  console.log(JSON.stringify({ id: request.id, ...decide(request.payload) }));
});
