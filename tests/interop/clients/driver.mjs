// The command line, the report and the bounds that both JavaScript clients share.

import { parseArgs } from 'node:util';
import { READ_STEPS, WRITE_STEPS } from './demo.mjs';
import { Answers, GATEWAY_STEPS, MODEL, ROOT, SOURCE_STEPS, USER_NAME } from './features.mjs';
import { Scenario, STEPS } from './scenario.mjs';

const STEP_LIMIT_MS = 90_000;
const RUN_LIMIT_MS = 240_000;
const SCENARIOS = {
  servers: STEPS,
  gateway: GATEWAY_STEPS,
  source: SOURCE_STEPS,
  'demo-write': WRITE_STEPS,
  'demo-read': READ_STEPS,
};
// Only these have a user, a model and roots: the others are clients that offer nothing.
const SCENARIOS_WITH_ANSWERS = ['gateway', 'source'];
const NOTICES = ['message', 'resources/updated', 'tools/list_changed', 'prompts/list_changed', 'resources/list_changed'];

/**
 * Runs the scenario through the client that `open` connects, and prints one line of JSON a step.
 *
 * `open` is given the options and returns `{ sdk, session, close }`; a session has `protocolVersion`,
 * `instructions` and what `sessionOf` gives.
 */
export async function drive(open) {
  setTimeout(() => fail(`no end after ${RUN_LIMIT_MS / 1000} s`), RUN_LIMIT_MS).unref();
  try {
    const options = parse();
    const { sdk, session, close } = await open(options);
    const scenario = new Scenario(session, options);
    for (const step of SCENARIOS[options.scenario]) await report(step, scenario);
    await close();
    say('finished', true, `${sdk}, protocol ${session.protocolVersion}`);
    process.exit(0);
  } catch (error) {
    fail(String(error));
  }
}

/** What a client can do. */
export function capabilities({ scenario }) {
  return SCENARIOS_WITH_ANSWERS.includes(scenario) ? { elicitation: {}, sampling: {}, roots: {} } : {};
}

/**
 * What a client does when it is asked or told something.
 *
 * `named` gives what the library knows a method by: its schema, or its name.
 */
export function answer(client, { scenario }, named = (method) => method) {
  const answers = new Answers();
  if (!SCENARIOS_WITH_ANSWERS.includes(scenario)) return answers;
  client.setRequestHandler(named('elicitation/create'), async ({ params }) => {
    answers.asked.push(params.message);
    if (answers.action !== 'accept') return { action: answers.action };
    // Whatever the form asks for, it is given the name.
    const { required } = params.requestedSchema;
    return { action: 'accept', content: Object.fromEntries(required.map((name) => [name, USER_NAME])) };
  });
  client.setRequestHandler(named('sampling/createMessage'), async ({ params: { messages } }) => {
    const { text } = messages[0].content;
    answers.asked.push(text);
    return { role: 'assistant', model: MODEL, content: { type: 'text', text: `You said: ${text}` } };
  });
  client.setRequestHandler(named('roots/list'), async () => ({ roots: [{ uri: ROOT, name: 'root' }] }));
  for (const notice of NOTICES) {
    const method = `notifications/${notice}`;
    client.setNotificationHandler(named(method), ({ params }) => void answers.told.push({ method, params }));
  }
  return answers;
}

/**
 * The progress that reaches a connected transport, in a list that grows.
 *
 * Both libraries hand on a notification one turn later than an answer, and forget the callback with the answer:
 * of what comes in one read with the answer, `onprogress` hears nothing.
 */
function progressOf(transport) {
  const arrived = [];
  const take = transport.onmessage;
  transport.onmessage = (message, ...rest) => {
    if (message.method === 'notifications/progress') arrived.push(message.params);
    take(message, ...rest);
  };
  return arrived;
}

/** What both libraries have under the same names. */
export function sessionOf(client) {
  const arrived = progressOf(client.transport);
  return {
    /** What `call` gives, with the progress that came before its answer. */
    watching: async (call) => {
      arrived.length = 0;
      return [await call(), arrived.map(({ progress, total, message }) => ({ progress, total, message }))];
    },
    instructions: client.getInstructions(),
    listTools: async () => (await client.listTools()).tools,
    prompts: async () => (await client.listPrompts()).prompts,
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    resources: async () => (await client.listResources()).resources,
    templates: async () => (await client.listResourceTemplates()).resourceTemplates,
    read: (uri) => client.readResource({ uri }),
    complete: async (ref, name, value) => {
      const { completion } = await client.complete({ ref, argument: { name, value } });
      return completion.values;
    },
    /** Hears of changes, those of one resource among them, until the returned function is called. */
    watch: async (uri) => {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
    /** Hears the log from a level on, in calls with the returned options. */
    logging: async (level) => {
      await client.setLoggingLevel(level);
      return {};
    },
  };
}

async function report(step, scenario) {
  let timer;
  const limit = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer after ${STEP_LIMIT_MS / 1000} s`)), STEP_LIMIT_MS);
  });
  try {
    say(step.name, true, await Promise.race([step(scenario), limit]));
  } catch (error) {
    say(step.name, false, error.code === 'ERR_ASSERTION' ? error.message : String(error));
  } finally {
    clearTimeout(timer);
  }
}

function fail(detail) {
  say('connection', false, detail);
  process.exit(1);
}

function say(step, ok, detail) {
  process.stdout.write(`${JSON.stringify({ step, ok, detail })}\n`);
}

// `--command PROGRAM [ARGUMENT ...]` comes last and takes the rest of the line.
function parse() {
  const line = process.argv.slice(2);
  const end = line.includes('--command') ? line.indexOf('--command') : line.length;
  const { values } = parseArgs({
    args: line.slice(0, end),
    options: Object.fromEntries(
      ['transport', 'era', 'url', 'scenario', 'issue', 'tap', 'repository', 'files'].map((name) => [
        name,
        { type: 'string' },
      ]),
    ),
  });
  const command = line.slice(end + 1);
  if ((values.transport === 'http') !== Boolean(values.url) || (values.transport === 'stdio') !== command.length > 0) {
    throw new Error('give --url with http and --command with stdio');
  }
  return { scenario: 'servers', ...values, command };
}
