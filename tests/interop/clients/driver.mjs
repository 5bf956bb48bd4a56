// The command line, the report and the bounds that both JavaScript clients share.

import { parseArgs } from 'node:util';
import { READ_STEPS, WRITE_STEPS } from './demo.mjs';
import { Scenario, STEPS } from './scenario.mjs';

const STEP_LIMIT_MS = 90_000;
const RUN_LIMIT_MS = 240_000;
const SCENARIOS = { servers: STEPS, 'demo-write': WRITE_STEPS, 'demo-read': READ_STEPS };

/**
 * Runs the scenario through the client that `open` connects, and prints one line of JSON a step.
 *
 * `open` is given the options and returns `{ sdk, session, close }`; a session has `protocolVersion`,
 * `instructions`, `listTools()` and `call(name, args, requestOptions)`.
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
