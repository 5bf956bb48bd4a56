// The scenario through `@modelcontextprotocol/sdk` 1.x, which speaks the handshake era only.
//
// Usage as `client.py`. Its packages lie outside the source tree, so `run` copies it beside them.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import * as types from '@modelcontextprotocol/sdk/types.js';
import { answer, capabilities, drive, sessionOf } from './driver.mjs';

const SCHEMAS = {
  'elicitation/create': types.ElicitRequestSchema,
  'sampling/createMessage': types.CreateMessageRequestSchema,
  'roots/list': types.ListRootsRequestSchema,
  'notifications/message': types.LoggingMessageNotificationSchema,
  'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
  'notifications/tools/list_changed': types.ToolListChangedNotificationSchema,
  'notifications/prompts/list_changed': types.PromptListChangedNotificationSchema,
  'notifications/resources/list_changed': types.ResourceListChangedNotificationSchema,
};

await drive(async (options) => {
  const {
    era,
    url,
    command: [command, ...args],
  } = options;
  if (era !== 'handshake') throw new Error('this generation speaks the handshake era only');
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args, env: process.env });
  const client = new Client(
    { name: 'gatefold-interop', version: '1.0.0' },
    { capabilities: capabilities(options) },
  );
  const answers = answer(client, options, (method) => SCHEMAS[method]);
  // The client keeps the version to itself and tells it to the transport.
  let protocolVersion;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    protocolVersion = version;
    tell?.(version);
  };
  await client.connect(transport);
  return {
    sdk: '@modelcontextprotocol/sdk 1.x',
    session: {
      ...sessionOf(client),
      protocolVersion,
      answers,
      call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    },
    close: async () => {
      if (url) await transport.terminateSession();
      await client.close();
    },
  };
});
