// Chats through `gatefold chat` with aimock, a model that others wrote, over both of the APIs that models have.
//
//   node models.mjs GATEFOLD WORK

import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";

const [gatefold, work] = process.argv.slice(2);
const COUNT = { subcommand: "call", server: "issues", tool: "count_issues", parameters: {} };
const UNITS = { subcommand: "call", server: "units", tool: "convert", parameters: { value: 1, from: "km", to: "m" } };
const LONG = "Zoë’s 🦉 said: “naïve \\u0041 \"quotes\"” \t and\nlines. ".repeat(40);

const call = (name, parameters) => ({ name, arguments: JSON.stringify(parameters) });
const asks = (userMessage, hasToolResult) => ({ userMessage, hasToolResult });

function script(mock) {
  mock.on(asks("hello", false), { content: "Hello there." });
  mock.on(asks("long", false), { content: LONG });
  mock.on(asks("count", false), { content: "Let me look.", toolCalls: [call("mcp", COUNT)] });
  mock.on(asks("count", true), { content: "Counted." });
  const blocks = [
    { type: "toolCall", ...call("mcp", COUNT) },
    { type: "text", text: "And one more." },
    { type: "toolCall", ...call("mcp", UNITS) },
  ];
  mock.on(asks("both", false), { blocks });
  mock.on(asks("both", true), { content: "Both." });
  mock.on(asks("thinks", false), { content: "Thought.", reasoning: "First this, then that." });
  mock.on(asks("wrong", false), { toolCalls: [call("no_such_tool", {})] });
  mock.on(asks("wrong", true), { content: "There is none." });
  mock.on(asks("broken", false), { content: "Never." }, { chaos: { malformedRate: 1 } });
  mock.on(asks("cut", false), { content: LONG }, { chaos: { disconnectRate: 1 } });
}

// What a chat answers with, how it ended, how many requests it took, and which tools were called.
const EXPECTED = [
  ["hello", { answer: "Hello there.", requests: 1 }],
  ["long", { answer: LONG, requests: 1 }],
  ["count", { answer: "Counted.", requests: 2, calls: ["issues__count_issues"] }],
  ["both", { answer: "Both.", requests: 2, calls: ["issues__count_issues", "units__convert"] }],
  ["thinks", { answer: "Thought.", requests: 1 }],
  ["wrong", { answer: "There is none.", requests: 2, calls: ["no_such_tool"] }],
  ["hello", { answer: "Hello there.", requests: 2, error: 429 }],
  ["hello", { answer: "Hello there.", requests: 2, error: 503 }],
  ["hello", { fails: /401/, requests: 1, error: 401 }],
  ["broken", { fails: /did not answer with/, requests: 1 }],
  ["cut", { fails: /cannot be asked/, requests: 4 }],
];

const APIS = { "openai-chat": "/v1", anthropic: "/v1" };

function run(config, words) {
  const args = ["chat", "--config", config, "--state-dir", join(work, "state"), "-p", words, "--json"];
  return new Promise((resolve) => {
    const child = execFile(gatefold, args, { timeout: 120_000 }, (error, stdout, stderr) =>
      resolve({ code: error ? (error.code ?? "killed") : 0, stdout, stderr }));
    child.stdin.end();
  });
}

function compare(expected, ended, requests) {
  const faults = [];
  const wants = (what, is, should) => {
    if (JSON.stringify(is) !== JSON.stringify(should)) faults.push(`${what} is ${JSON.stringify(is)}`);
  };
  if (expected.requests) wants("the number of requests", requests, expected.requests);
  if (expected.fails) {
    const told = ended.stdout + ended.stderr;
    if (ended.code !== 1 || !expected.fails.test(told)) faults.push(`it ended with ${ended.code}: ${told}`);
    return faults;
  }
  if (ended.code !== 0) return [`it ended with ${ended.code}: ${ended.stderr}`];
  const report = JSON.parse(ended.stdout);
  wants("the answer", report.answer.trim(), expected.answer.trim());
  wants("the calls", report.calls.map((made) => made.tool.split(" ")[0]).sort(), (expected.calls ?? []).sort());
  return faults;
}

let [passed, failed] = [0, 0];
mkdirSync(work, { recursive: true });
for (const [api, path] of Object.entries(APIS)) {
  // Small pieces, so that characters and arguments come in parts.
  const mock = new LLMock({ port: 0, chunkSize: 3 });
  script(mock);
  await mock.start();
  const config = join(work, `${api}.toml`);
  const server = (name) =>
    `[sources.${name}]\ncommand = ${JSON.stringify(gatefold)}\nargs = ["demo-server", "${name}", "--scratch", ${JSON.stringify(join(work, "data"))}]\n`;
  writeFileSync(config, `[models.aimock]\napi = "${api}"\nurl = "${mock.url}${path}"\nmodel = "any"\n${server("issues")}${server("units")}`);
  for (const [words, expected] of EXPECTED) {
    mock.clearRequests();
    mock.resetMatchCounts();
    if (expected.error) mock.nextRequestError(expected.error, { message: `error ${expected.error}`, type: "error" });
    const ended = await run(config, words);
    const faults = compare(expected, ended, mock.getRequests().length);
    const name = `${api}: ${words}${expected.error ? ` after ${expected.error}` : ""}`;
    console.log(faults.length ? `FAILED ${name}: ${faults.join("; ")}` : `ok     ${name}`);
    faults.length ? failed++ : passed++;
  }
  await mock.stop();
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
