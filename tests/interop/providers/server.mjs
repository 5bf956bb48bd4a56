// A protected MCP server for `providers.py`, made with the official SDK: one tool, which says who calls. It asks the
// provider about each token, and goes by the last answer while the provider cannot be reached.
//
//   server.mjs PORT METADATA_URL CLIENT_ID CLIENT_SECRET
//
// Each request with a token is a line of JSON on standard output.

import { createServer } from "node:http";
import { InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import {
    getOAuthProtectedResourceMetadataUrl,
    mcpAuthMetadataRouter,
} from "@modelcontextprotocol/sdk/server/auth/router.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { say, serve } from "./pages.mjs";

const [port, metadataUrl, id, secret] = process.argv.slice(2);
const resource = new URL(`http://127.0.0.1:${port}/mcp`);
const oauthMetadata = await (await fetch(metadataUrl)).json();
const known = new Map();

async function verifyAccessToken(token) {
    const said = await introspect(token);
    say("introspection", { ...said });
    if (!said.active) throw new InvalidTokenError("the provider does not know this token");
    const audiences = [said.aud].flat();
    return {
        token,
        clientId: said.client_id,
        scopes: (said.scope ?? "").split(" "),
        expiresAt: said.exp,
        resource: audiences.includes(resource.href) ? resource : undefined,
        extra: { person: said.sub },
    };
}

async function introspect(token) {
    let answer;
    try {
        answer = await fetch(oauthMetadata.introspection_endpoint, {
            method: "POST",
            headers: { authorization: `Basic ${btoa(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`)}` },
            body: new URLSearchParams({ token, token_type_hint: "access_token" }),
        });
    } catch (error) {
        if (known.has(token)) return known.get(token);
        throw error;
    }
    if (!answer.ok) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    known.set(token, await answer.json());
    return known.get(token);
}

const app = createMcpExpressApp();
app.use(mcpAuthMetadataRouter({ oauthMetadata, resourceServerUrl: resource, scopesSupported: ["tools"] }));
const guard = requireBearerAuth({
    verifier: { verifyAccessToken },
    requiredScopes: ["tools"],
    resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource),
    expectedResource: resource,
});
app.post("/mcp", guard, async (request, response) => {
    say("request", { token: request.auth.token, method: request.body.method });
    const server = new McpServer({ name: "tickets", version: "1.0.0" });
    server.registerTool("whoami", { description: "Says who calls" }, ({ authInfo }) => ({
        content: [{ type: "text", text: `you are ${authInfo.extra.person}` }],
    }));
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
    response.on("close", () => transport.close());
    await server.connect(transport);
    await transport.handleRequest(request, response, request.body);
});
app.all("/mcp", guard, (_request, response) => response.status(405).end());

serve(createServer(app), port);
