// A plug-in in JavaScript: it hides what the upstream says about itself, and asks browsers not to guess types.
import { createInterface } from "node:readline";

const answers = {
  OnResponse: ({ Header }) =>
    Header.Server ? { decision: "patch", value: { Header: { Server: null } } } : { decision: "continue" },
  ResponseHeaders: () => ({
    decision: "continue",
    collected: [{ Name: "X-Content-Type-Options", Value: "nosniff" }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  const reply = request.describe
    ? { protocol: 1, spec: "example.com/gateway/points", points: Object.keys(answers) }
    : answers[request.point](request.payload);
  console.log(JSON.stringify({ id: request.id, ...reply }));
}
