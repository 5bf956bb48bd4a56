// What clients do with a server that has all of the protocol. `features.py` says the same in Python.
//
// The server is the reference server, seen through either endpoint; at the gateway's, server-everything too.

import { ok } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { META_TOOLS, equal, era_is_agreed, firstListing, show, within } from './scenario.mjs';

const NOTICE_LIMIT_MS = 20_000;
// For so long after one client took a request back, a shared server's questions are nobody's.
const DOUBT_MS = 2_000;
// `matrix_wait` does not say when it begins to wait.
const BEGIN_MS = 500;
export const USER_NAME = 'Ada \u2713';
export const MODEL = 'interop-model';
export const ROOT = 'file:///interop/root';
const WATCHED = 'test://watched-resource';
const STATIC_TEXT = 'This is the content of the static text resource.';
const LEVELS = ['warning', 'error', 'critical', 'alert', 'emergency'];
const PROMPTS = ['test_simple_prompt', 'test_prompt_with_arguments', 'test_prompt_with_embedded_resource'];
const RESOURCES = ['test://static-text', 'test://static-binary', WATCHED, 'user://asking'];
const LISTS = ['prompts', 'resources'];

/** What the user and the model behind a client say, and what they were asked and told. */
export class Answers {
  action = 'accept';
  asked = [];
  told = [];

  forget(action = 'accept') {
    this.action = action;
    this.asked.length = 0;
    this.told.length = 0;
  }

  toldOf(method) {
    return this.told.filter((notice) => notice.method === `notifications/${method}`).map((notice) => notice.params);
  }
}

/** How one endpoint names what a source has: as the source does, or under its domain. */
class Face {
  constructor({ session, options }, domain) {
    this.session = session;
    this.domain = domain;
    this.isGateway = options.scenario === 'gateway';
  }

  prompt(name) {
    return this.isGateway ? `${this.domain}__${name}` : name;
  }

  uri(uri) {
    return this.isGateway ? `gatefold://${this.domain}/${uri}` : uri;
  }

  reply(name, args = {}, options = {}) {
    if (!this.isGateway) return this.session.call(name, args, options);
    return this.session.call('execute_tool', { tool_name: `${this.domain}__${name}`, arguments: args }, options);
  }

  /** What a tool says. */
  async ask(name, args, options) {
    const reply = await this.reply(name, args, options);
    ok(!reply.isError, `${name} failed: ${show(reply)}`);
    const [{ text }] = reply.content;
    if (!this.isGateway) return text;
    const said = JSON.parse(text).result;
    return typeof said === 'string' ? said : JSON.stringify(said);
  }
}

const reference = (scenario) => new Face(scenario, 'reference');
const everything = (scenario) => new Face(scenario, 'everything');

async function tools_are_known(scenario) {
  let names = (await scenario.session.listTools()).map((tool) => tool.name);
  if (scenario.options.scenario === 'gateway') {
    equal([...names].sort(), Object.keys(META_TOOLS).sort());
    await firstListing(scenario);
    const found = await scenario.ask('discover_tools', { domain: 'reference' });
    names = found.tools.map((tool) => tool.name.replace(/^reference__/, ''));
  }
  within(['test_simple_text', 'matrix_elicit', 'matrix_sample', 'matrix_wait'], names);
  return `${names.length} tools`;
}

async function contents_arrive_whole(scenario) {
  const face = reference(scenario);
  equal(await face.ask('test_simple_text'), 'This is a simple text response for testing.');
  const { content } = await face.reply('test_multiple_content_types');
  const blocks = Object.fromEntries(content.map((block) => [block.type, block]));
  equal(Object.keys(blocks).sort(), ['image', 'resource', 'text']);
  equal(pngHead(blocks.image.data), '\x89PNG');
  equal(JSON.parse(blocks.resource.resource.text), { test: 'data', value: 123 });
  return `${content.length} blocks`;
}

async function tool_error_is_told(scenario) {
  const reply = await reference(scenario).reply('test_error_handling');
  equal(reply.isError, true);
  within(['This tool intentionally returns an error for testing'], reply.content[0].text);
  return 'isError';
}

async function prompts_are_listed(scenario) {
  const face = reference(scenario);
  const prompts = await scenario.session.prompts();
  within(PROMPTS.map((name) => face.prompt(name)), prompts.map((prompt) => prompt.name));
  const found = prompts.find((prompt) => prompt.name === face.prompt('test_prompt_with_arguments'));
  equal(found.arguments.map(({ name, required }) => [name, required]), [['arg1', true], ['arg2', true]]);
  return `${prompts.length} prompts`;
}

async function prompt_is_given(scenario) {
  const face = reference(scenario);
  const words = { arg1: 'one', arg2: 'two \u00fc' };
  const { messages } = await scenario.session.prompt(face.prompt('test_prompt_with_arguments'), words);
  equal(messages.map((message) => message.role), ['user']);
  equal(messages[0].content.text, "Prompt with arguments: arg1='one', arg2='two \u00fc'");
  const embedding = face.prompt('test_prompt_with_embedded_resource');
  const given = await scenario.session.prompt(embedding, { resourceUri: 'test://anything' });
  equal(given.messages[0].content.resource.text, 'Embedded resource content for testing.');
  await fails(scenario.session.prompt(face.prompt('no_such_prompt'), {}), 'no_such_prompt');
  return messages[0].content.text;
}

async function resources_are_listed(scenario) {
  const face = reference(scenario);
  const resources = await scenario.session.resources();
  within(RESOURCES.map((uri) => face.uri(uri)), resources.map((resource) => resource.uri));
  const picture = resources.find((resource) => resource.uri === face.uri('test://static-binary'));
  equal(picture.mimeType, 'image/png');
  const templates = await scenario.session.templates();
  const template = templates.find(({ uriTemplate }) => uriTemplate === face.uri('test://template/{id}/data'));
  equal(template?.mimeType, 'application/json');
  return `${resources.length} resources, ${templates.length} templates`;
}

async function resource_is_read(scenario) {
  const face = reference(scenario);
  const read = async (uri) => (await scenario.session.read(face.uri(uri))).contents[0];
  const text = await read('test://static-text');
  equal([text.uri, text.text], [face.uri('test://static-text'), STATIC_TEXT]);
  equal(pngHead((await read('test://static-binary')).blob), '\x89PNG');
  equal(JSON.parse((await read('test://template/42/data')).text).data, 'Data for ID: 42');
  await fails(read('test://no-such-resource'), '');
  return text.uri;
}

async function arguments_are_completed(scenario) {
  const face = reference(scenario);
  const prompt = { type: 'ref/prompt', name: face.prompt('test_prompt_with_arguments') };
  equal(await scenario.session.complete(prompt, 'arg1', 'par'), ['paris', 'park', 'party']);
  const template = { type: 'ref/resource', uri: face.uri('test://template/{id}/data') };
  equal(await scenario.session.complete(template, 'id', 'testV'), ['testValue1', 'testValue2']);
  return 'paris, park, party';
}

async function elicitation_is_accepted(scenario) {
  scenario.session.answers.forget();
  const said = await reference(scenario).ask('matrix_elicit', { message: 'Who is there?' });
  const [action, content] = said.split(', content=');
  equal([action, JSON.parse(content)], ['action=accept', { name: USER_NAME }]);
  equal(scenario.session.answers.asked, ['Who is there?']);
  return said;
}

async function elicitation_is_declined(scenario) {
  scenario.session.answers.forget('decline');
  const said = await reference(scenario).ask('matrix_elicit', { message: 'Who is there?' });
  within(['action=decline'], said);
  equal(scenario.session.answers.asked, ['Who is there?']);
  return said;
}

async function model_is_sampled(scenario) {
  scenario.session.answers.forget();
  const said = await reference(scenario).ask('matrix_sample', { prompt: 'Say something' });
  equal(said, `model="${MODEL}", text=You said: Say something`);
  equal(scenario.session.answers.asked, ['Say something']);
  return said;
}

async function roots_are_told(scenario) {
  equal(await reference(scenario).ask('matrix_roots'), ROOT);
  return ROOT;
}

async function prompt_and_resource_may_ask(scenario) {
  const face = reference(scenario);
  scenario.session.answers.forget();
  const { messages } = await scenario.session.prompt(face.prompt('test_input_required_result_prompt'), {});
  equal(messages[0].content.text, `Use this context: ${USER_NAME}`);
  const { contents } = await scenario.session.read(face.uri('user://asking'));
  equal(contents[0].text, `Read by ${USER_NAME}.`);
  equal(scenario.session.answers.asked, ['What context should the prompt use?', 'Who is reading?']);
  return contents[0].text;
}

async function steps_are_reported(scenario) {
  const seen = [];
  const onprogress = ({ progress, total, message }) => seen.push({ progress, total, message });
  const call = () => reference(scenario).ask('matrix_progress', { steps: 5 }, { onprogress });
  const [said, arrived] = await scenario.session.watching(call);
  equal(said, 'took 5 steps');
  equal(arrived, [1, 2, 3, 4, 5].map((step) => ({ progress: step, total: 5, message: `${step} of 5` })));
  equal(seen, arrived.slice(0, seen.length));
  return `${arrived.length} notifications, ${seen.length} handed on`;
}

async function waiting_is_cancelled(scenario) {
  const face = reference(scenario);
  const cancelled = async () => Number(await face.ask('matrix_cancelled'));
  const before = await cancelled();
  const abandon = new AbortController();
  const ended = face.reply('matrix_wait', {}, { signal: abandon.signal }).catch((error) => error);
  await sleep(BEGIN_MS);
  abandon.abort();
  ok((await ended) instanceof Error, `the call ended before it could be cancelled: ${show(await ended)}`);
  await until('word of the cancellation', async () => (await cancelled()) > before);
  equal(await cancelled(), before + 1);
  return 'cancelled once';
}

async function log_is_heard_from_a_level(scenario) {
  const { answers } = scenario.session;
  answers.forget();
  const options = await scenario.session.logging('warning');
  equal(await reference(scenario).ask('matrix_log', {}, options), 'logged');
  await until("the log's last message", () => answers.toldOf('message').length >= LEVELS.length);
  equal(answers.toldOf('message').map((message) => message.level), LEVELS);
  equal(answers.toldOf('message')[0].data, 'at level "warning"');
  return LEVELS.join(', ');
}

async function resource_is_watched(scenario) {
  const face = reference(scenario);
  const { answers } = scenario.session;
  answers.forget();
  const leave = await scenario.session.watch(face.uri(WATCHED));
  equal(await face.ask('matrix_touch', { uri: WATCHED }), 'told 1');
  await until("the resource's change", () => answers.toldOf('resources/updated').length > 0);
  equal(answers.toldOf('resources/updated').map((update) => update.uri), [face.uri(WATCHED)]);
  await leave();
  const isForgotten = async () => (await face.ask('matrix_touch', { uri: WATCHED })) === 'told 0';
  await until('the end of the watching', isForgotten);
  return face.uri(WATCHED);
}

async function changed_lists_are_told(scenario) {
  const face = reference(scenario);
  const { answers, prompts, resources, listTools } = scenario.session;
  answers.forget();
  const leave = await scenario.session.watch(face.uri(WATCHED));
  const said = await face.ask('matrix_grow');
  for (const list of face.isGateway ? LISTS : ['tools', ...LISTS]) {
    await until(`the change of ${list}`, () => answers.toldOf(`${list}/list_changed`).length > 0);
  }
  await leave();
  const number = said.split(' ')[0].replace('matrix_grown_', '');
  within([face.prompt(`matrix_grown_prompt_${number}`)], (await prompts()).map((prompt) => prompt.name));
  within([face.uri(`matrix://grown/${number}`)], (await resources()).map((resource) => resource.uri));
  equal(await face.ask(`matrix_grown_${number}`), `matrix_grown_${number} was added later`);
  if (!face.isGateway) within([`matrix_grown_${number}`], (await listTools()).map((tool) => tool.name));
  return said;
}

async function real_prompt_is_given(scenario) {
  const face = everything(scenario);
  within([face.prompt('args-prompt')], (await scenario.session.prompts()).map((prompt) => prompt.name));
  const { messages } = await scenario.session.prompt(face.prompt('args-prompt'), { city: 'Lima', state: 'Peru' });
  equal(messages[0].content.text, "What's weather in Lima, Peru?");
  const prompt = { type: 'ref/prompt', name: face.prompt('completable-prompt') };
  equal(await scenario.session.complete(prompt, 'department', 'S'), ['Sales', 'Support']);
  return messages[0].content.text;
}

async function real_resource_is_read(scenario) {
  const face = everything(scenario);
  const templates = (await scenario.session.templates()).map((template) => template.uriTemplate);
  within([face.uri('demo://resource/dynamic/text/{resourceId}')], templates);
  const uri = face.uri('demo://resource/dynamic/text/7');
  const { contents } = await scenario.session.read(uri);
  equal(contents[0].uri, uri);
  within(['Resource 7'], contents[0].text);
  return contents[0].text;
}

async function real_server_asks(scenario) {
  const face = everything(scenario);
  const { answers } = scenario.session;
  answers.forget();
  // The client before this one ended with a request that it took back.
  await sleep(DOUBT_MS);
  within([`Name: ${USER_NAME}`], show(await face.reply('trigger-elicitation-request')));
  within([MODEL], await face.ask('trigger-sampling-request', { prompt: 'Say something' }));
  equal(answers.asked.length, 2);
  within(['Say something'], answers.asked[1]);
  return answers.asked.join(', ');
}

function pngHead(base64) {
  return Buffer.from(base64, 'base64').subarray(0, 4).toString('latin1');
}

async function fails(request, why) {
  const given = await request.catch((error) => error);
  ok(given instanceof Error, `this should have failed: ${show(given)}`);
  within([why], String(given));
}

async function until(what, isThere) {
  const since = performance.now();
  while (!(await isThere())) {
    ok(performance.now() - since < NOTICE_LIMIT_MS, `${what} never came`);
    await sleep(50);
  }
}

export const SOURCE_STEPS = [
  era_is_agreed,
  tools_are_known,
  contents_arrive_whole,
  tool_error_is_told,
  prompts_are_listed,
  prompt_is_given,
  resources_are_listed,
  resource_is_read,
  arguments_are_completed,
  elicitation_is_accepted,
  elicitation_is_declined,
  model_is_sampled,
  roots_are_told,
  prompt_and_resource_may_ask,
  steps_are_reported,
  waiting_is_cancelled,
  log_is_heard_from_a_level,
  resource_is_watched,
  changed_lists_are_told,
];
export const GATEWAY_STEPS = [...SOURCE_STEPS, real_prompt_is_given, real_resource_is_read, real_server_asks];
