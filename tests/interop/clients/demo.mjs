// What clients do through `gatefold demo` before its restart and after it. `demo.py` says the same in Python.

import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { equal, era_is_agreed, firstListing, within } from './scenario.mjs';

const CREATE_ISSUE = 'issues__create_issue';
const GET_ISSUE = 'issues__get_issue';

async function issue_tool_is_found(scenario) {
  await firstListing(scenario);
  const found = await scenario.ask('discover_tools', { query: 'create an issue' });
  const names = found.results.map((tool) => tool.name);
  within([CREATE_ISSUE], names);
  return names.join(', ');
}

async function issue_schema_is_given(scenario) {
  const found = await scenario.ask('get_tool_schema', { tool_name: CREATE_ISSUE });
  equal([found.name, found.domain], [CREATE_ISSUE, 'issues']);
  within(['title'], found.parameters.required);
  return Object.keys(found.parameters.properties).join(', ');
}

async function issue_is_created(scenario) {
  const title = `${scenario.tag} ${randomUUID()}`;
  const { result } = await scenario.execute(CREATE_ISSUE, { title });
  equal(result.title, title);
  writeFileSync(scenario.options.issue, JSON.stringify({ id: result.id, title }));
  return `${result.id}: ${title}`;
}

async function issue_is_read_back(scenario) {
  const kept = JSON.parse(readFileSync(scenario.options.issue, 'utf8'));
  const { result } = await scenario.execute(GET_ISSUE, { id: kept.id });
  equal({ id: result.id, title: result.title }, kept);
  return `${result.id}: ${result.title}`;
}

export const WRITE_STEPS = [era_is_agreed, issue_tool_is_found, issue_schema_is_given, issue_is_created];
export const READ_STEPS = [era_is_agreed, issue_is_read_back];
