// What every client does through Gatefold, and what must come back. `scenario.py` says the same in Python.

import { ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

const DOMAINS = ['everything', 'filesystem', 'git', 'memory', 'reference', 'results', 'time'];
export const META_TOOLS = {
  discover_tools: ['domain', 'group', 'query'],
  get_tool_schema: ['tool_name', 'tool_names'],
  execute_tool: ['tool_name', 'arguments'],
};
const VERSIONS = { handshake: '2025-11-25', stateless: '2026-07-28' };
const COMMITS = ['Plant the first tree', 'Water the first tree'];

// Some clients cut what is longer.
const TEXT_LIMIT_BYTES = 2048;
// A first start finds no manifests on disk and five interpreters to launch.
const FIRST_LISTING_LIMIT_MS = 60_000;
const CANCEL_LIMIT_MS = 5_000;
const LONG_OPERATION = 'everything__trigger-long-running-operation';

/** One client's way through the steps. */
export class Scenario {
  constructor(session, options) {
    this.session = session;
    this.options = options;
    this.tag = `javascript-${process.pid}`;
  }

  /** The JSON that a meta-tool answers with. */
  async ask(tool, args) {
    return answer(await this.session.call(tool, args), false);
  }

  /** The `error` that a meta-tool answers with. */
  async askInVain(tool, args) {
    return answer(await this.session.call(tool, args), true).error;
  }

  /** What the tool gave, out of its envelope, and the whole result. */
  async execute(tool, args) {
    const reply = await this.session.call('execute_tool', { tool_name: tool, arguments: args });
    const envelope = answer(reply, false);
    equal(Object.keys(envelope), ['tool', 'result']);
    equal(envelope.tool, tool);
    return { result: envelope.result, reply };
  }

  async executeInVain(tool, args) {
    const reply = await this.session.call('execute_tool', { tool_name: tool, arguments: args });
    const envelope = answer(reply, true);
    equal(envelope.tool, tool);
    return envelope.error;
  }
}

export async function era_is_agreed({ session, options }) {
  equal(session.protocolVersion, VERSIONS[options.era]);
  return session.protocolVersion;
}

async function instructions_are_given({ session }) {
  const text = session.instructions ?? '';
  within([...Object.keys(META_TOOLS), ...DOMAINS], text);
  atMost(Buffer.byteLength(text), TEXT_LIMIT_BYTES);
  return `${Buffer.byteLength(text)} bytes`;
}

async function only_meta_tools_are_listed({ session }) {
  const tools = await session.listTools();
  const names = tools.map((tool) => tool.name);
  equal([...names].sort(), Object.keys(META_TOOLS).sort());
  for (const tool of tools) {
    within(META_TOOLS[tool.name], Object.keys(tool.inputSchema.properties));
    atMost(Buffer.byteLength(tool.description), TEXT_LIMIT_BYTES);
    equal(tool.annotations.readOnlyHint, tool.name !== 'execute_tool');
  }
  within(DOMAINS, tools.find((tool) => tool.name === 'discover_tools').description);
  return names.join(', ');
}

async function domains_are_discovered(scenario) {
  const { found, waited } = await firstListing(scenario);
  equal(found.domains.map((domain) => domain.name).sort(), DOMAINS);
  equal(found.total_tools, found.domains.reduce((sum, domain) => sum + domain.tool_count, 0));
  ok(found.domains.every((domain) => domain.groups.length > 0), `a domain without groups: ${show(found)}`);
  return `${found.total_tools} tools after ${(waited / 1000).toFixed(1)} s`;
}

/** The domains, once each has its tools, and the milliseconds that took. */
export async function firstListing(scenario) {
  const since = performance.now();
  for (;;) {
    const found = await scenario.ask('discover_tools', {});
    const counts = found.domains.map((domain) => domain.tool_count);
    const waited = performance.now() - since;
    if (counts.every((count) => count > 0)) return { found, waited };
    ok(waited <= FIRST_LISTING_LIMIT_MS, `after ${waited / 1000} s still no tools: ${counts}`);
    await sleep(200);
  }
}

async function domain_is_browsed(scenario) {
  const found = await scenario.ask('discover_tools', { domain: 'filesystem' });
  equal(found.domain, 'filesystem');
  const names = found.tools.map((tool) => tool.name);
  within(['filesystem__read_text_file', 'filesystem__write_file'], names);
  ok(found.tools.every((tool) => tool.group && tool.description), `a bare tool: ${show(found)}`);
  return `${names.length} tools`;
}

async function group_is_browsed(scenario) {
  const whole = await scenario.ask('discover_tools', { domain: 'git' });
  const { group } = whole.tools.find((tool) => tool.name === 'git_log');
  const found = await scenario.ask('discover_tools', { domain: 'git', group });
  equal([found.domain, found.group], ['git', group]);
  const expected = whole.tools.filter((tool) => tool.group === group).map((tool) => tool.name);
  equal(found.tools.map((tool) => tool.name), expected);
  return `${group}: ${expected.length} of ${whole.tools.length} tools`;
}

async function tools_are_searched(scenario) {
  const firsts = [];
  const searches = { 'convert time between timezones': 'time__convert_time', 'commit logs': 'git_log' };
  for (const [query, wanted] of Object.entries(searches)) {
    const found = await scenario.ask('discover_tools', { query });
    equal(found.query, query);
    within([wanted], found.results.map((tool) => tool.name));
    ok(found.results.every((tool) => tool.domain && tool.description), `a bare tool: ${show(found)}`);
    firsts.push(found.results[0].name);
  }
  return firsts.join(', ');
}

async function schema_is_given(scenario) {
  const found = await scenario.ask('get_tool_schema', { tool_name: 'filesystem__write_file' });
  equal([found.name, found.domain], ['filesystem__write_file', 'filesystem']);
  within(['group', 'description', 'parameters', 'output_schema'], Object.keys(found));
  equal(Object.keys(found.parameters.properties).sort(), ['content', 'path']);
  equal([...found.parameters.required].sort(), ['content', 'path']);
  return Object.keys(found).join(', ');
}

async function schemas_are_given_together(scenario) {
  const wanted = ['memory__create_entities', 'time__convert_time', 'git_log'];
  const found = await scenario.ask('get_tool_schema', { tool_names: wanted });
  const schemas = Object.values(found).find(Array.isArray) ?? [];
  equal(schemas.map((schema) => schema.name), wanted);
  ok(schemas.every((schema) => Object.keys(schema.parameters.properties).length > 0), `no properties: ${show(found)}`);
  return wanted.join(', ');
}

async function memory_keeps_an_entity(scenario) {
  const entity = { name: scenario.tag, entityType: 'client', observations: ['writes', 'reads \u2713'] };
  const made = await scenario.execute('memory__create_entities', { entities: [entity] });
  within([scenario.tag], show(made.result));
  const { result, reply } = await scenario.execute('memory__read_graph');
  const isOurs = (known) => known.name === scenario.tag;
  equal(result.entities.find(isOurs).observations, entity.observations);
  equal(reply.structuredContent.entities.find(isOurs), result.entities.find(isOurs));
  return `${result.entities.length} entities`;
}

async function file_is_written_and_read(scenario) {
  const path = join(scenario.options.files, `${scenario.tag}.txt`);
  const content = 'one line\n\ttwo \u00fcml\u00e4uts, \u201cquotes\u201d and a \u{1f333}\n';
  await scenario.execute('filesystem__write_file', { path, content });
  const { result, reply } = await scenario.execute('filesystem__read_text_file', { path });
  equal(result, content);
  equal(reply.structuredContent.content, content);
  return `${Buffer.byteLength(content)} bytes`;
}

async function history_is_read(scenario) {
  const { result } = await scenario.execute('git_log', { repo_path: scenario.options.repository, max_count: 5 });
  within(COMMITS, typeof result === 'string' ? result : show(result));
  return `${COMMITS.length} commits`;
}

async function time_is_converted(scenario) {
  const question = { source_timezone: 'UTC', time: '12:00', target_timezone: 'Asia/Tokyo' };
  const { result, reply } = await scenario.execute('time__convert_time', question);
  equal(result.time_difference, '+9.0h');
  equal(reply.structuredContent, result);
  return result.target.datetime;
}

async function image_arrives_as_image(scenario) {
  const { reply } = await scenario.execute('everything__get-tiny-image');
  const images = reply.content.filter((block) => block.type === 'image');
  equal(images.length, 1);
  equal(images[0].mimeType, 'image/png');
  const picture = Buffer.from(images[0].data, 'base64');
  equal(picture.subarray(0, 8).toString('latin1'), '\x89PNG\r\n\x1a\n');
  return `${picture.length} bytes of PNG`;
}

async function upstream_error_is_told(scenario) {
  const missing = join(scenario.options.files, 'missing.txt');
  const error = await scenario.executeInVain('filesystem__read_text_file', { path: missing });
  within(['ENOENT'], error);
  await scenario.executeInVain('everything__get-sum', { a: 'a word', b: 2 });
  return error;
}

async function unknown_tool_is_suggested_for(scenario) {
  let error;
  for (const metaTool of ['get_tool_schema', 'execute_tool']) {
    error = await scenario.askInVain(metaTool, { tool_name: 'memory__read_grph' });
    within(['memory__read_grph', 'memory__read_graph'], error);
  }
  return error;
}

async function unknown_domain_is_mended(scenario) {
  within(DOMAINS, await scenario.askInVain('discover_tools', { domain: 'gitt' }));
  const error = await scenario.askInVain('discover_tools', { domain: 'git', group: 'no such group' });
  const whole = await scenario.ask('discover_tools', { domain: 'git' });
  within(whole.tools.map((tool) => tool.group), error);
  return error;
}

async function calls_run_side_by_side(scenario) {
  const messages = Array.from({ length: 16 }, (_, number) => `${scenario.tag} ${number}`);
  const zones = ['UTC', 'Asia/Tokyo', 'Europe/Berlin', 'America/Lima'];
  const answers = await Promise.all([
    ...messages.map((message) => scenario.execute('everything__echo', { message })),
    ...zones.map((timezone) => scenario.execute('time__get_current_time', { timezone })),
    scenario.execute('git_status', { repo_path: scenario.options.repository }),
  ]);
  const results = answers.map((given) => given.result);
  equal(results.slice(0, 16), messages.map((message) => `Echo: ${message}`));
  equal(results.slice(16, 20).map((result) => result.timezone), zones);
  within(['main'], results[20]);
  return `${answers.length} calls`;
}

async function progress_arrives(scenario) {
  const seen = [];
  const operation = { tool_name: LONG_OPERATION, arguments: { duration: 2, steps: 4 } };
  const onprogress = ({ progress, total }) => seen.push([progress, total]);
  const call = () => scenario.session.call('execute_tool', operation, { onprogress });
  const [result, told] = await scenario.session.watching(call);
  answer(result, false);
  const arrived = told.map(({ progress, total }) => [progress, total]);
  equal(arrived, [1, 2, 3, 4].map((step) => [step, 4]));
  equal(seen, arrived.slice(0, seen.length));
  return `${arrived.length} notifications, ${seen.length} handed on`;
}

/** Cancels a call that has begun, and then asks the same upstream for something else. */
async function call_is_cancelled(scenario) {
  const toldBefore = cancellations(scenario.options.tap).length;
  const call = { tool_name: LONG_OPERATION, arguments: { duration: 20, steps: 40 } };
  const abandon = new AbortController();
  let since;
  const onprogress = () => {
    since ??= performance.now();
    abandon.abort();
  };
  const options = { onprogress, signal: abandon.signal };
  const ended = await scenario.session.call('execute_tool', call, options).catch((error) => error);
  ok(abandon.signal.aborted && ended instanceof Error, `the call ended before it could be cancelled: ${show(ended)}`);
  const left = performance.now() - since;
  since = performance.now();
  const { result } = await scenario.execute('everything__echo', { message: 'still there' });
  equal(result, 'Echo: still there');
  atMost(left, CANCEL_LIMIT_MS);
  atMost(performance.now() - since, CANCEL_LIMIT_MS);
  while (cancellations(scenario.options.tap).length === toldBefore) {
    ok(performance.now() - since < CANCEL_LIMIT_MS, 'the upstream was never told of the cancellation');
    await sleep(100);
  }
  return `left after ${left.toFixed(0)} ms`;
}

/** The ids that server-everything was told to cancel, each of which it must have been asked before. */
function cancellations(tap) {
  const whole = readFileSync(tap, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line));
  const asked = whole.filter((message) => message.method === 'tools/call').map((message) => message.id);
  const told = whole
    .filter((message) => message.method === 'notifications/cancelled')
    .map((message) => message.params.requestId);
  within(told, asked);
  return told;
}

function answer(reply, isError) {
  const [first] = reply.content;
  equal(first.type, 'text');
  ok(Boolean(reply.isError) === isError, `isError is not ${isError}: ${first.text.slice(0, 400)}`);
  try {
    return JSON.parse(first.text);
  } catch {
    throw new Error(`not JSON: ${first.text.slice(0, 400)}`);
  }
}

export function equal(found, wanted) {
  ok(isDeepStrictEqual(found, wanted), `found ${show(found)}, wanted ${show(wanted)}`);
}

export function within(wanted, found) {
  const missing = wanted.filter((item) => !found.includes(item));
  ok(missing.length === 0, `missing ${show(missing)} in ${show(found).slice(0, 400)}`);
}

export function atMost(found, limit) {
  ok(found <= limit, `found ${found}, at most ${limit}`);
}

export function show(value) {
  return value instanceof Error ? String(value) : JSON.stringify(value);
}

export const STEPS = [
  era_is_agreed,
  instructions_are_given,
  only_meta_tools_are_listed,
  domains_are_discovered,
  domain_is_browsed,
  group_is_browsed,
  tools_are_searched,
  schema_is_given,
  schemas_are_given_together,
  memory_keeps_an_entity,
  file_is_written_and_read,
  history_is_read,
  time_is_converted,
  image_arrives_as_image,
  upstream_error_is_told,
  unknown_tool_is_suggested_for,
  unknown_domain_is_mended,
  calls_run_side_by_side,
  progress_arrives,
  call_is_cancelled,
];
