// What the Inspector's command line shows of the reference server, at either endpoint and in either era.
//
//   inspector.mjs --program FILE --home DIR --era handshake|stateless --scenario gateway|source --url URL
//
// Each step is a run of the Inspector of its own: it connects, asks one thing and prints the answer as JSON.

import { ok } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { parseArgs } from 'node:util';
import { META_TOOLS, equal, show, within } from './scenario.mjs';

const RUN_LIMIT_MS = 30_000;
const ERAS = { handshake: 'legacy', stateless: 'modern' };
const PICTURE = 'test://static-binary';

const names = ['program', 'home', 'era', 'scenario', 'transport', 'url'];
const { values: options } = parseArgs({ options: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) });
const isGateway = options.scenario === 'gateway';

const prompt = (name) => (isGateway ? `reference__${name}` : name);
const uri = (own) => (isGateway ? `gatefold://reference/${own}` : own);
const said = (reply) => (isGateway ? JSON.parse(reply.content[0].text).result : reply.content[0].text);

/** The JSON that one run prints, and the status it ends with. */
function run(method, ...more) {
  const flags = ['--cli', options.url, '--transport', 'http', '--protocol-era', ERAS[options.era], '--method', method];
  // It keeps its own files in the home directory.
  const settings = { timeout: RUN_LIMIT_MS, env: { ...process.env, HOME: options.home } };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [options.program, ...flags, ...more], settings, (error, stdout, stderr) => {
      try {
        resolve({ status: error?.code ?? 0, printed: JSON.parse(stdout || stderr) });
      } catch {
        reject(new Error(`${method} printed no JSON: ${stdout.slice(0, 200)} ${stderr.slice(0, 200)}`));
      }
    });
  });
}

async function ask(method, ...more) {
  const { status, printed } = await run(method, ...more);
  ok(status === 0, `${method} ended with status ${status}: ${show(printed)}`);
  return printed;
}

function call(name, args) {
  const given = isGateway ? { tool_name: `reference__${name}`, arguments: args } : args;
  const pairs = Object.entries(given).map(([key, value]) => `${key}=${typeof value === 'string' ? value : show(value)}`);
  const flags = pairs.length > 0 ? ['--tool-arg', ...pairs] : [];
  return ['tools/call', '--tool-name', isGateway ? 'execute_tool' : name, ...flags];
}

async function tools_are_listed() {
  const { tools } = await ask('tools/list');
  const listed = tools.map((tool) => tool.name);
  if (isGateway) equal(listed.sort(), Object.keys(META_TOOLS).sort());
  else within(['test_simple_text', 'json_schema_2020_12_tool', 'matrix_elicit'], listed);
  return `${listed.length} tools`;
}

async function tool_is_called() {
  const reply = await ask(...call('test_simple_text', {}));
  equal(said(reply), 'This is a simple text response for testing.');
  // The only trace of the era in what is printed.
  equal(reply.resultType, options.era === 'stateless' ? 'complete' : undefined);
  const progress = await ask(...call('matrix_progress', { steps: 2 }));
  equal(said(progress), 'took 2 steps');
  return said(reply);
}

async function tool_error_is_told() {
  const { printed } = await run(...call('test_error_handling', {}));
  equal(printed.isError, true);
  within(['This tool intentionally returns an error for testing'], printed.content[0].text);
  return 'isError';
}

async function prompts_are_listed() {
  const { prompts } = await ask('prompts/list');
  const found = prompts.find((listed) => listed.name === prompt('test_prompt_with_arguments'));
  equal(found?.arguments.map((argument) => argument.name), ['arg1', 'arg2']);
  return `${prompts.length} prompts`;
}

async function prompt_is_given() {
  const name = ['--prompt-name', prompt('test_prompt_with_arguments')];
  const { messages } = await ask('prompts/get', ...name, '--prompt-args', 'arg1=one', 'arg2=two');
  equal(messages[0].content.text, "Prompt with arguments: arg1='one', arg2='two'");
  return messages[0].content.text;
}

async function resources_are_listed() {
  const { resources } = await ask('resources/list');
  equal(resources.find((resource) => resource.uri === uri(PICTURE))?.mimeType, 'image/png');
  const { resourceTemplates } = await ask('resources/templates/list');
  within([uri('test://template/{id}/data')], resourceTemplates.map((template) => template.uriTemplate));
  return `${resources.length} resources, ${resourceTemplates.length} templates`;
}

async function resource_is_read() {
  const read = async (own) => (await ask('resources/read', '--uri', uri(own))).contents[0];
  const text = await read('test://static-text');
  equal([text.uri, text.text], [uri('test://static-text'), 'This is the content of the static text resource.']);
  equal(Buffer.from((await read(PICTURE)).blob, 'base64').subarray(1, 4).toString(), 'PNG');
  equal(JSON.parse((await read('test://template/42/data')).text).data, 'Data for ID: 42');
  const { status, printed } = await run('resources/read', '--uri', uri('test://no-such-resource'));
  ok(status !== 0 && printed.error, `a missing resource was read: ${show(printed)}`);
  return text.uri;
}

const STEPS = [
  tools_are_listed,
  tool_is_called,
  tool_error_is_told,
  prompts_are_listed,
  prompt_is_given,
  resources_are_listed,
  resource_is_read,
];

// The steps do not depend on one another.
await Promise.all(
  STEPS.map(async (step) => {
    const [isRight, detail] = await step().then(
      (detail) => [true, detail],
      (error) => [false, error.code === 'ERR_ASSERTION' ? error.message : String(error)],
    );
    process.stdout.write(`${JSON.stringify({ step: step.name, ok: isRight, detail })}\n`);
  }),
);
process.stdout.write(`${JSON.stringify({ step: 'finished', ok: true, detail: 'inspector' })}\n`);
