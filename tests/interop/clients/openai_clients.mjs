// Speaks to a gateway's agents with npm's `openai` and `ai`, and has a script do so with PyPI's `openai`.
//
//   node openai_clients.mjs GATEFOLD WORK PYTHON SCRIPT

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { APICallError, generateText, streamText } from "ai";
import OpenAI from "openai";

const [gatefold, work, python, script] = process.argv.slice(2);
const START_LIMIT_MS = 30_000;
const COUNT = { subcommand: "call", server: "issues", tool: "count_issues", parameters: {} };
const LONG = "Zoë’s 🦉 said: “naïve \\u0041 \"quotes\"” \t and\nlines. ".repeat(40);

function startModel() {
  // Small pieces, so that characters come in parts.
  const mock = new LLMock({ port: 0, chunkSize: 3 });
  const on = (userMessage, answer, more) => mock.on({ userMessage, hasToolResult: false }, answer, more);
  on("hello", { content: "Hello there." });
  on("long", { content: LONG });
  on("slow", { content: LONG }, { latency: 100 });
  on("refused", { error: { message: "no such key", type: "error" }, status: 401 });
  on("count", { content: "Let me look.", toolCalls: [{ name: "mcp", arguments: JSON.stringify(COUNT) }] });
  mock.on({ userMessage: "count", hasToolResult: true }, { content: "Counted." });
  return mock.start().then(() => mock);
}

// A gateway that wants a token, which is what these clients call a key.
async function startGateway(mock) {
  mkdirSync(work, { recursive: true });
  const config = join(work, "gatefold.toml");
  const issues = `["demo-server", "issues", "--scratch", ${JSON.stringify(join(work, "data"))}]`;
  writeFileSync(config, `[server]\nauthentication = "token"\n[models.aimock]\nurl = "${mock.url}/v1"\nmodel = "any"\n
[agents.helper]\ninstructions = "You help."\n[agents.hidden]\nvisible_to = ["nobody"]\n
[sources.issues]\ncommand = ${JSON.stringify(gatefold)}\nargs = ${issues}\n`);
  const place = ["--config", config, "--state-dir", join(work, "state")];
  const token = execFileSync(gatefold, ["token", "create", "--name", "interop", "--for", "ann", ...place], { encoding: "utf8" });
  const gateway = spawn(gatefold, ["serve", "--listen", "127.0.0.1:0", ...place], { stdio: ["ignore", "ignore", "pipe"] });
  const log = createWriteStream(join(work, "gateway.log"));
  const url = await new Promise((resolve, reject) => {
    let seen = "";
    const late = setTimeout(() => reject(new Error(`the gateway does not start: ${seen}`)), START_LIMIT_MS);
    gateway.stderr.on("data", (data) => {
      log.write(data);
      seen += data;
      const found = seen.match(/url=(http\S+)\/mcp/);
      if (found && seen.includes("took up a new list of tools")) {
        clearTimeout(late);
        resolve(found[1]);
      }
    });
  });
  return { gateway, url, token: token.trim() };
}

const mock = await startModel();
const { gateway, url, token } = await startGateway(mock);
const baseURL = `${url}/v1`;
const client = new OpenAI({ baseURL, apiKey: token });
const provider = createOpenAICompatible({ name: "gatefold", baseURL, apiKey: token, includeUsage: true });
const says = (content, model = "helper") => ({ model, messages: [{ role: "user", content }] });
const ask = (content, more) => client.chat.completions.create({ ...says(content), ...more });
const tool = { type: "function", function: { name: "f", parameters: { type: "object" } } };

async function newestRun() {
  const listed = await fetch(`${url}/api/runs?limit=1`, { headers: { authorization: `Bearer ${token}` } });
  return (await listed.json()).runs[0];
}

// The status of the newest run once it has ended.
async function ending() {
  for (let left = 100; ; left--) {
    const { status } = await newestRun();
    if (status !== "running" || left === 0) return status;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const CHECKS = {
  "openai from npm: whole": async () => {
    const { data, response } = await client.chat.completions.create(says("hello")).withResponse();
    assert.equal(data.choices[0].message.content, "Hello there.");
    assert.equal(data.choices[0].finish_reason, "stop");
    assert.ok(data.usage.total_tokens > 0);
    assert.equal(data.id, `chatcmpl-${response.headers.get("x-gatefold-run")}`);
  },
  "openai from npm: with calls": async () => {
    assert.equal((await ask("count", { temperature: 0, n: 1 })).choices[0].message.content, "Counted.");
  },
  "openai from npm: streamed": async () => {
    let [text, usage] = ["", undefined];
    for await (const chunk of await ask("long", { stream: true, stream_options: { include_usage: true } })) {
      text += chunk.choices[0]?.delta.content ?? "";
      usage = chunk.usage ?? usage;
    }
    assert.equal(text, LONG);
    assert.ok(usage.total_tokens > 0);
  },
  "openai from npm: with the helper": async () => {
    const stream = client.chat.completions.stream(says("hello", "gatefold"));
    assert.equal(await stream.finalContent(), "Hello there.");
  },
  "openai from npm: models": async () => {
    const ids = [];
    for await (const model of client.models.list()) ids.push(model.id);
    assert.deepEqual(ids, ["gatefold", "helper"]);
    assert.equal((await client.models.retrieve("helper")).object, "model");
  },
  "openai from npm: errors": async () => {
    const hidden = await client.chat.completions.create(says("hello", "hidden")).catch((error) => error);
    assert.ok(hidden instanceof OpenAI.NotFoundError && hidden.code === "model_not_found", hidden);
    const tools = await ask("hello", { tools: [tool] }).catch((error) => error);
    assert.ok(tools instanceof OpenAI.BadRequestError && tools.param === "tools", tools);
    const stranger = await new OpenAI({ baseURL, apiKey: "sk-wrong" }).models.list().catch((error) => error);
    assert.ok(stranger instanceof OpenAI.AuthenticationError, stranger);
  },
  "openai from npm: a run that failed is not begun again": async () => {
    mock.clearRequests();
    const failed = await ask("refused").catch((error) => error);
    assert.equal(failed.code, "run_failed", failed);
    assert.equal(mock.getRequests().length, 1);
  },
  "openai from npm: a client that leaves": async () => {
    const stream = await ask("slow", { stream: true });
    for await (const chunk of stream) if (chunk.choices[0].delta.content) break;
    stream.controller.abort();
    assert.equal(await ending(), "cancelled");
  },
  "ai: whole": async () => {
    const { text, finishReason, usage } = await generateText({ model: provider("helper"), prompt: "hello" });
    assert.equal(text, "Hello there.");
    assert.equal(finishReason, "stop");
    assert.ok(usage.totalTokens > 0);
  },
  "ai: streamed, with calls": async () => {
    const streamed = streamText({ model: provider("helper"), system: "Be brief.", prompt: "count" });
    let text = "";
    for await (const piece of streamed.textStream) text += piece;
    assert.equal(text, "Let me look.\n\nCounted.");
    assert.ok((await streamed.usage).totalTokens > 0);
  },
  "ai: errors": async () => {
    mock.clearRequests();
    const missing = await generateText({ model: provider("no-such"), prompt: "hello" }).catch((error) => error);
    assert.ok(APICallError.isInstance(missing) && missing.statusCode === 404, missing);
    const failed = await generateText({ model: provider("helper"), prompt: "refused" }).catch((error) => error);
    assert.ok(APICallError.isInstance(failed) && failed.statusCode === 424, failed);
    assert.equal(mock.getRequests().length, 1, "a run that failed is not begun again");
  },
};

let [passed, failed] = [0, 0];
for (const [name, check] of Object.entries(CHECKS)) {
  try {
    await check();
    console.log(`ok     ${name}`);
    passed++;
  } catch (error) {
    console.log(`FAILED ${name}: ${error?.stack ?? error}`);
    failed++;
  }
}
const own = spawn(python, [script, baseURL, token], { stdio: ["ignore", "pipe", "inherit"] });
let lines = "";
own.stdout.on("data", (data) => (lines += data));
const code = await new Promise((resolve) => own.on("close", resolve));
process.stdout.write(lines);
passed += lines.split("\n").filter((line) => line.startsWith("ok ")).length;
failed += lines.split("\n").filter((line) => line.startsWith("FAILED ")).length;
// A script that did not come to its checks printed nothing.
if (code !== 0 && !lines.includes("FAILED ")) failed++;
gateway.kill();
await mock.stop();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
