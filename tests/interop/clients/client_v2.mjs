// The scenario through `@modelcontextprotocol/client` 2.x, which speaks both eras.
//
// Usage as `client.py`. Its packages lie outside the source tree, so `run` copies it beside them.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { drive } from './driver.mjs';

// `auto` asks `server/discover` first, as clients that speak both eras do.
const MODES = { handshake: 'legacy', stateless: 'auto' };

await drive(async ({ era, url, command: [command, ...args] }) => {
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command, args, env: process.env });
  const client = new Client(
    { name: 'gatefold-interop', version: '1.0.0' },
    { versionNegotiation: { mode: MODES[era] } },
  );
  await client.connect(transport);
  return {
    sdk: '@modelcontextprotocol/client 2.x',
    session: {
      protocolVersion: client.getNegotiatedProtocolVersion(),
      instructions: client.getInstructions(),
      listTools: async () => (await client.listTools()).tools,
      call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    },
    close: async () => {
      if (url && era === 'handshake') await transport.terminateSession();
      await client.close();
    },
  };
});
