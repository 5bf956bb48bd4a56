// An official TypeScript client that signs its user in at the gateway and calls a tool there.
//
//   enter.mjs 1|2 URL TOOL PROFILE BROWSER
//
// 1 is `@modelcontextprotocol/sdk` 1.x, 2 is `@modelcontextprotocol/client` 2.x. The person is BROWSER
// (`providers/browser.mjs`), with PROFILE. Prints one line of JSON: what the tool said, and the client's id.
// Its packages lie outside the source tree, so it is copied beside them.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';

const [generation, url, tool, profile, browser] = process.argv.slice(2);

const { Client, StreamableHTTPClientTransport, UnauthorizedError } =
  generation === '2'
    ? await import('@modelcontextprotocol/client')
    : {
        ...(await import('@modelcontextprotocol/sdk/client/index.js')),
        ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
        ...(await import('@modelcontextprotocol/sdk/client/auth.js')),
      };

const arrival = Promise.withResolvers();
const server = createServer((request, response) => {
  const asked = new URL(request.url, 'http://127.0.0.1');
  response.setHeader('content-type', 'text/html').end('<!doctype html><title>Back at the client</title>Done.');
  if (asked.pathname === '/callback') arrival.resolve(asked.searchParams);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));

/** Keeps in memory what a client keeps. */
class Sign {
  redirectUrl = `http://127.0.0.1:${server.address().port}/callback`;
  clientMetadata = {
    client_name: 'Interop',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
  clientInformation = () => this.client;
  saveClientInformation = (client) => void (this.client = client);
  tokens = () => this.kept;
  saveTokens = (tokens) => void (this.kept = tokens);
  saveCodeVerifier = (verifier) => void (this.verifier = verifier);
  codeVerifier = () => this.verifier;
  redirectToAuthorization = (address) => {
    const person = spawn(process.execPath, [browser, profile, String(address), 'allow'], {
      stdio: ['ignore', 2, 2],
    });
    person.once('exit', (status) => status && arrival.reject(new Error(`the browser ended with ${status}`)));
  };
}

const sign = new Sign();
const opened = () => new StreamableHTTPClientTransport(new URL(url), { authProvider: sign });
const client = new Client({ name: 'interop', version: '1.0.0' });
const first = opened();
try {
  await client.connect(first);
  throw new Error('nobody was asked to sign in');
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
}
const answer = await arrival.promise;
await (generation === '2' ? first.finishAuth(answer) : first.finishAuth(answer.get('code')));
const signedIn = new Client({ name: 'interop', version: '1.0.0' });
await signedIn.connect(opened());
const called = await signedIn.callTool({
  name: 'execute_tool',
  arguments: { tool_name: tool, arguments: { by: 'state' } },
});
const told = called.content.map((part) => part.text).join('\n');
console.log(JSON.stringify({ told, client: sign.client.client_id, refreshes: Boolean(sign.kept.refresh_token) }));
await signedIn.close();
server.close();
server.closeAllConnections();
