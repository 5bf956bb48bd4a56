// The scenario through `@modelcontextprotocol/client` 2.x, which speaks both eras.
//
// Usage as `client.py`. Its packages lie outside the source tree, so `run` copies it beside them.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { answer, capabilities, drive, sessionOf } from './driver.mjs';

// `auto` asks `server/discover` first, as clients that speak both eras do.
const MODES = { handshake: 'legacy', stateless: 'auto' };

const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

await drive(async (options) => {
  const {
    era,
    url,
    command: [command, ...args],
  } = options;
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args, env: process.env });
  const client = new Client(
    { name: 'gatefold-interop', version: '1.0.0' },
    { versionNegotiation: { mode: MODES[era] }, capabilities: capabilities(options) },
  );
  const answers = answer(client, options);
  await client.connect(transport);
  return {
    sdk: '@modelcontextprotocol/client 2.x',
    session: {
      ...sessionOf(client),
      ...(era === 'stateless' ? statelessly(client) : {}),
      protocolVersion: client.getNegotiatedProtocolVersion(),
      answers,
      call: (name, args, { meta, ...options } = {}) =>
        client.callTool({ name, arguments: args, ...(meta ? { _meta: meta } : {}) }, options),
    },
    close: async () => {
      if (url && era === 'handshake') await transport.terminateSession();
      await client.close();
    },
  };
});

/** What the stateless era has another way of. */
function statelessly(client) {
  return {
    watch: async (uri) => {
      const lists = { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true };
      const subscription = await client.listen({ ...lists, resourceSubscriptions: [uri] });
      return () => subscription.close();
    },
    logging: async (level) => ({ meta: { [LOG_LEVEL]: level } }),
  };
}
