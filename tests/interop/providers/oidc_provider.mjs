// A provider for `providers.py`: `oidc-provider` with dynamic registration, PKCE, refresh tokens that rotate, resource
// indicators, the device flow and revocation. It asks for a password and for consent on pages of its own.
//
//   oidc_provider.mjs PORT RESOURCE CODE_LIFE_S REFRESH_LIFE_S [opaque|jwt]
//
// RESOURCE is the protected server, whose access tokens are opaque unless the last word says otherwise. Access tokens last CODE_LIFE_S after a sign-in and REFRESH_LIFE_S after a refresh.
// A gateway may exchange them for opaque ones of another server (RFC 8693), which `exchange.mjs` adds.
// It also signs people in for a gateway, which comes back to `/oauth/callback` at RESOURCE's host, and tells it their groups.
// PROVIDER_HOST is another name of this machine for the provider.
// Every event is a line of JSON on standard output. SIGUSR2 closes the port, or opens it again; what the provider knows
// stays.

import { createServer } from "node:http";
import { Provider } from "oidc-provider";
import { EXCHANGE, addExchange } from "./exchange.mjs";
import { formOf, page, say, serve } from "./pages.mjs";

const [port, resource, codeLife, refreshLife, format = "opaque"] = process.argv.slice(2);
const issuer = `http://${process.env.PROVIDER_HOST ?? "127.0.0.1"}:${port}`;
const guard = { client_id: "mcp-server", client_secret: "a secret of the protected server" };

const gateway = { client_id: "gatefold", client_secret: "a secret of the gateway" };

const provider = new Provider(issuer, {
    claims: { openid: ["sub"], groups: ["groups"] },
    clients: [
        { ...guard, redirect_uris: [], response_types: [], grant_types: [] },
        {
            ...gateway,
            redirect_uris: [new URL("/oauth/callback", resource).href],
            grant_types: ["authorization_code", EXCHANGE],
        },
        {
            client_id: "television",
            token_endpoint_auth_method: "none",
            redirect_uris: [],
            response_types: [],
            grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        },
    ],
    // What a scope asks for is in the ID token, and not only at the userinfo endpoint.
    conformIdTokenClaims: false,
    cookies: { keys: ["a key for the cookies of a test"] },
    features: {
        deviceFlow: { enabled: true },
        devInteractions: { enabled: false },
        introspection: { enabled: true },
        registration: { enabled: true },
        resourceIndicators: {
            enabled: true,
            getResourceServerInfo: () => ({ scope: "tools", audience: resource, accessTokenFormat: format }),
        },
        revocation: { enabled: true },
    },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id, groups: ["gardeners"] }) }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    scopes: ["openid", "offline_access", "tools", "groups"],
    ttl: {
        AccessToken: (context) => Number(context.oidc.params.grant_type === "refresh_token" ? refreshLife : codeLife),
        RefreshToken: 600,
        Grant: 600,
        Interaction: 600,
        Session: 600,
        IdToken: 600,
        DeviceCode: 600,
    },
});

addExchange(provider, issuer, resource);

provider.on("grant.success", (context) => say("grant", { type: context.oidc.params.grant_type }));
provider.on("grant.error", (context, error) => say("grant refused", { why: error.error_detail ?? error.message }));
provider.on("grant.revoked", () => say("grant revoked"));
provider.on("refresh_token.saved", (token) => say("refresh token", { token: token.jti, client: token.clientId }));
provider.on("registration_create.success", (_context, client) => say("registration", { id: client.clientId }));
for (const asked of ["registration_create", "device_authorization", "authorization"]) {
    provider.on(`${asked}.error`, (_context, error) => say(`${asked} refused`, { why: error.error_description }));
}
provider.on("server_error", (_context, error) => say("fault", { why: String(error.stack) }));

async function interact(request, response) {
    const { uid, prompt, params, session, grantId } = await provider.interactionDetails(request, response);
    const action = `/interaction/${uid}`;
    if (request.method !== "POST") {
        say(`${prompt.name} page`);
        return page(response, prompt.name, action, `${params.client_id} wants: ${params.scope}`);
    }
    const form = await formOf(request);
    if (prompt.name === "login") {
        if (form.get("password") !== "gardening") return page(response, "login", action, "That is not the password.");
        return provider.interactionFinished(request, response, { login: { accountId: form.get("login") } });
    }
    if (form.get("answer") !== "allow") {
        const refusal = { error: "access_denied", error_description: "the person said no" };
        return provider.interactionFinished(request, response, refusal);
    }
    const known = grantId && (await provider.Grant.find(grantId));
    const grant = known || new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
    const { missingOIDCScope, missingResourceScopes } = prompt.details;
    if (missingOIDCScope) grant.addOIDCScope(missingOIDCScope.join(" "));
    for (const [indicator, scopes] of Object.entries(missingResourceScopes ?? {})) {
        grant.addResourceScope(indicator, scopes.join(" "));
    }
    const consent = { grantId: await grant.save() };
    return provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}

const standard = provider.callback();
serve(
    createServer((request, response) => {
        if (!request.url.startsWith("/interaction/")) return standard(request, response);
        return interact(request, response).catch((error) => {
            say("fault", { why: String(error.stack) });
            response.writeHead(500).end("fault");
        });
    }),
    port,
    { metadata: `${issuer}/.well-known/openid-configuration`, ...guard },
);
