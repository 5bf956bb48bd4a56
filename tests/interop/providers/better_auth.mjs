// A second provider for `providers.py`: `better-auth` with its plugin for OAuth providers, all in memory. It registers
// clients by itself, rotates refresh tokens, and keeps access tokens that it can take back. Its issuer has a path.
//
//   better_auth.mjs PORT RESOURCE CODE_LIFE_S REFRESH_LIFE_S
//
// The arguments, the lines on standard output and SIGUSR2 are those of `oidc_provider.mjs`.

import { createServer } from "node:http";
import { oauthProvider } from "@better-auth/oauth-provider";
import { betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { bodyOf, page, say, sayGrant, serve } from "./pages.mjs";

const [port, resource, codeLife, refreshLife] = process.argv.slice(2);
const origin = `http://127.0.0.1:${port}`;

const tables = [
    "user", "session", "account", "verification", "oauthClient", "oauthAccessToken", "oauthRefreshToken",
    "oauthConsent", "oauthResource", "oauthClientResource", "oauthClientAssertion",
];
const plugin = oauthProvider({
    loginPage: "/login",
    consentPage: "/consent",
    scopes: ["openid", "offline_access", "tools"],
    resources: [resource],
    enforcePerClientResources: false,
    allowDynamicClientRegistration: true,
    allowUnauthenticatedClientRegistration: true,
    // Opaque access tokens, which it can take back.
    disableJwtPlugin: true,
});
const auth = betterAuth({
    baseURL: origin,
    secret: "a secret for the cookies of a test, which is long",
    database: memoryAdapter(Object.fromEntries(tables.map((table) => [table, []]))),
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    plugins: [plugin],
});
const ann = { name: "Ann", email: "ann@example.org", password: "gardening" };
const signedUp = await auth.api.signUpEmail({ body: ann, asResponse: true });
const headers = { cookie: signedUp.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ") };
const guard = await auth.api.adminCreateOAuthClient({
    headers,
    body: { client_name: "the protected server", redirect_uris: ["https://server.example/nowhere"] },
});
// Only a resource's own clients may ask about its tokens.
await auth.api.adminLinkClientResource({ headers, params: { identifier: resource, client_id: guard.client_id } });

// Each page sends what was entered, with the request that it is for, and goes where the answer says.
const sender = (path, fields) => `document.forms[0].addEventListener("submit", async (event) => {
    event.preventDefault()
    const form = new FormData(event.target, event.submitter)
    const body = JSON.stringify({ ...(${fields})(form), oauth_query: location.search.slice(1) })
    const answer = await fetch("${path}", { method: "POST", headers: { "content-type": "application/json" }, body })
    const said = await answer.json()
    const next = said.url ?? said.redirect_uri
    if (next) location.href = next
    else document.body.textContent = JSON.stringify(said)
})`;
const LOGIN = sender(
    "/api/auth/sign-in/email",
    `(form) => ({ email: form.get("login") + "@example.org", password: form.get("password") })`,
);
const CONSENT = sender("/api/auth/oauth2/consent", `(form) => ({ accept: form.get("answer") === "allow" })`);
const PAGES = {
    "/login": (response) => page(response, "login", "", "Who are you?", LOGIN),
    "/consent": (response, query) =>
        page(response, "consent", "", `${query.get("client_id")} wants: ${query.get("scope")}`, CONSENT),
};

async function answer(incoming, response) {
    const url = new URL(incoming.url, origin);
    if (incoming.method === "GET" && PAGES[url.pathname]) {
        say(`${url.pathname.slice(1)} page`);
        return PAGES[url.pathname](response, url.searchParams);
    }
    if (url.pathname === "/.well-known/oauth-authorization-server/api/auth") {
        response.writeHead(200, { "content-type": "application/json" });
        return response.end(JSON.stringify(await auth.api.getOAuthServerConfig()));
    }
    const body = await bodyOf(incoming);
    const isGrant = url.pathname === "/api/auth/oauth2/token";
    if (isGrant) {
        const isRefresh = new URLSearchParams(body).get("grant_type") === "refresh_token";
        plugin.options.accessTokenExpiresIn = Number(isRefresh ? refreshLife : codeLife);
    }
    const request = new Request(url, {
        method: incoming.method,
        headers: Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
        body: incoming.method === "POST" ? body : undefined,
    });
    const made = await auth.handler(request);
    const text = await made.text();
    if (isGrant) sayGrant(incoming, body, made, text);
    if (url.pathname === "/api/auth/oauth2/register") say("registration", { status: made.status });
    if (url.pathname === "/api/auth/oauth2/revoke") say("grant revoked", { status: made.status });
    if (made.status >= 500) say("fault", { why: text });
    for (const [name, value] of made.headers) response.appendHeader(name, value);
    return response.writeHead(made.status).end(text);
}

serve(
    createServer((request, response) => answer(request, response).catch((error) => {
        say("fault", { why: String(error.stack) });
        if (!response.headersSent) response.writeHead(500);
        response.end("fault");
    })),
    port,
    {
        metadata: `${origin}/.well-known/oauth-authorization-server/api/auth`,
        client_id: guard.client_id,
        client_secret: guard.client_secret,
    },
);
