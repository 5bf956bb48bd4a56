// A client that knows OAuth by `oauth4webapi`, and of MCP only how to call a tool. It signs its user in at the gateway.
//
//   enter_oauth4webapi.mjs URL TOOL PROFILE BROWSER
//
// The person is BROWSER (`providers/browser.mjs`), with PROFILE. Prints one line of JSON: what the tool said, and the
// client's id. Its packages lie outside the source tree, so it is copied beside them.

import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import * as oauth from 'oauth4webapi';

const [url, tool, profile, browser] = process.argv.slice(2);
const resource = new URL(url);
// Everything here is on loopback.
const open = { [oauth.allowInsecureRequests]: true };

const arrival = Promise.withResolvers();
const server = createServer((request, response) => {
  const asked = new URL(request.url, 'http://127.0.0.1');
  response.setHeader('content-type', 'text/html').end('<!doctype html><title>Back at the client</title>Done.');
  if (asked.pathname === '/callback') arrival.resolve(asked);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const redirect = `http://127.0.0.1:${server.address().port}/callback`;

/** Calls the tool in the stateless era, where one request is enough. */
const call = (token) => {
  const headers = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'execute_tool',
  });
  const params = {
    name: 'execute_tool',
    arguments: { tool_name: tool, arguments: { by: 'state' } },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'interop', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  return oauth.protectedResourceRequest(token, 'POST', resource, headers, body, open);
};

/** Where the gateway says that its metadata is, to a token that it does not know. */
async function challenged() {
  try {
    await call('made-up');
  } catch (error) {
    if (!(error instanceof oauth.WWWAuthenticateChallengeError)) throw error;
    return error.cause.find(({ scheme }) => scheme === 'bearer').parameters;
  }
  throw new Error('a made-up token is good');
}

/** An issuer's metadata, where OAuth has it or where OpenID Connect does. */
async function serverOf(issuer) {
  const at = (algorithm) => oauth.discoveryRequest(issuer, { algorithm, ...open });
  const found = await at('oauth2');
  return oauth.processDiscoveryResponse(issuer, found.ok ? found : await at('oidc'));
}

const challenge = await challenged();
const discovered = await oauth.resourceDiscoveryRequest(resource, open);
if (challenge.resource_metadata !== discovered.url) throw new Error(`${challenge.resource_metadata} is another place`);
const guarded = await oauth.processResourceDiscoveryResponse(resource, discovered);
const issuer = await serverOf(new URL(guarded.authorization_servers[0]));
const metadata = {
  client_name: 'Interop',
  redirect_uris: [redirect],
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
};
const registered = await oauth.dynamicClientRegistrationRequest(issuer, metadata, open);
const client = await oauth.processDynamicClientRegistrationResponse(registered);

const verifier = oauth.generateRandomCodeVerifier();
const state = oauth.generateRandomState();
const page = new URL(issuer.authorization_endpoint);
for (const [name, value] of Object.entries({
  response_type: 'code',
  client_id: client.client_id,
  redirect_uri: redirect,
  resource: guarded.resource,
  scope: challenge.scope ?? guarded.scopes_supported?.join(' ') ?? '',
  state,
  code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
  code_challenge_method: 'S256',
})) {
  if (value) page.searchParams.set(name, value);
}
const person = spawn(process.execPath, [browser, profile, String(page), 'allow'], { stdio: ['ignore', 2, 2] });
person.once('exit', (status) => status && arrival.reject(new Error(`the browser ended with ${status}`)));
const answer = oauth.validateAuthResponse(issuer, client, await arrival.promise, state);
const exchanged = await oauth.authorizationCodeGrantRequest(issuer, client, oauth.None(), answer, redirect, verifier, {
  additionalParameters: { resource: guarded.resource },
  ...open,
});
const tokens = await oauth.processAuthorizationCodeResponse(issuer, client, exchanged);

const called = await (await call(tokens.access_token)).text();
// One event of a stream, or the answer alone.
const { result } = JSON.parse(called.match(/^(?:data: ?)?(\{.*)$/m)[1]);
const told = result.content.map((part) => part.text).join('\n');
console.log(JSON.stringify({ told, client: client.client_id, refreshes: Boolean(tokens.refresh_token) }));
server.close();
server.closeAllConnections();
