// A third provider for `providers.py`: Debian's `glewlwyd`, with a database of its own in the working directory. What
// it is asked goes through this program, which sees what happens and can close its port.
//
//   glewlwyd.mjs PORT RESOURCE LIFE_S
//
// The arguments, the lines on standard output and SIGUSR2 are those of `oidc_provider.mjs`. All access tokens last
// LIFE_S: there is one setting for them.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { bodyOf, freePort, say, sayGrant, serve } from "./pages.mjs";

const [port, resource, life] = process.argv.slice(2);
const origin = `http://127.0.0.1:${port}`;
const issuer = `${origin}/api/oidc`;
const guard = { client_id: "mcp-server", client_secret: "a-secret-of-the-protected-server" };
const START_LIMIT_MS = 10_000;
const LOOK_MS = 100;
// Headers of an answer that do not go on: its content is passed on whole and unpacked.
const OF_ONE_LEG = new Set(["connection", "content-encoding", "content-length", "transfer-encoding"]);
const SHARED = "/usr/share/glewlwyd";
const ADMIN = { username: "admin", password: "password" };

const inner = await freePort();
const within = `http://127.0.0.1:${inner}`;
// Debian's link to the pages' settings leads to a directory, and without them no page is shown.
execFileSync("cp", ["-RL", `${SHARED}/webapp`, "pages"]);
rmSync("pages/config.json", { recursive: true, force: true });
copyFileSync(`${SHARED}/templates/config.json`, "pages/config.json");
execFileSync("sqlite3", ["glewlwyd.db"], {
    input: readFileSync("/usr/share/dbconfig-common/data/glewlwyd/install/sqlite3"),
});
const types = { html: "text/html", css: "text/css", js: "application/javascript", json: "application/json" };
writeFileSync(
    "glewlwyd.conf",
    `port=${inner}
bind_address="127.0.0.1"
external_url="${origin}"
login_url="login.html"
api_prefix="api"
static_files_path="${process.cwd()}/pages/"
static_files_mime_types=(${Object.entries(types).map(([end, type]) => `{extension=".${end}" mime_type="${type}"}`)})
log_mode="file"
log_level="INFO"
log_file="${process.cwd()}/glewlwyd.log"
cookie_secure=0
session_key="GLEWLWYD2_SESSION_ID"
admin_scope="g_admin"
profile_scope="g_profile"
user_module_path="/usr/lib/glewlwyd/user"
client_module_path="/usr/lib/glewlwyd/client"
user_auth_scheme_module_path="/usr/lib/glewlwyd/scheme"
plugin_module_path="/usr/lib/glewlwyd/plugin"
hash_algorithm="SHA512"
database={type="sqlite3" path="${process.cwd()}/glewlwyd.db"}
`,
);
const program = spawn("glewlwyd", ["--config-file=glewlwyd.conf"], { stdio: "inherit" });
program.once("exit", (status) => process.exit(status ?? 1));
process.once("SIGTERM", () => program.kill());

const cookie = await begin();
for (const name of ["introspection", "offline_access", "tools"]) {
    await set("scope", { name, display_name: name, password_required: true, password_max_age: 0, scheme: {} });
}
await set("user", {
    username: "ann",
    password: "gardening",
    name: "Ann",
    email: "ann@example.org",
    scope: ["g_profile", "openid", "offline_access", "tools"],
    enabled: true,
});
await set("client", {
    ...guard,
    name: "the protected server",
    confidential: true,
    authorization_type: ["client_credentials"],
    token_endpoint_auth_method: ["client_secret_basic"],
    scope: ["introspection"],
    enabled: true,
    redirect_uri: [],
});
await set("mod/plugin", {
    module: "oidc",
    name: "oidc",
    display_name: "oidc",
    order_rank: 0,
    readonly: false,
    parameters: {
        iss: issuer,
        "jwt-type": "sha",
        "jwt-key-size": "256",
        key: "a key for the tokens of a test, which is long",
        "access-token-duration": Number(life),
        "refresh-token-duration": 600,
        "code-duration": 60,
        "refresh-token-rolling": true,
        "refresh-token-one-use": "always",
        "auth-type-code-enabled": true,
        "auth-type-client-enabled": true,
        "auth-type-refresh-enabled": true,
        "allow-non-oidc": true,
        "pkce-allowed": true,
        "pkce-required": true,
        "oauth-as-iss-id": true,
        "introspection-revocation-allowed": true,
        "introspection-revocation-allow-target-client": true,
        "introspection-revocation-auth-scope": ["introspection"],
        "register-client-allowed": true,
        "register-client-auth-scope": [],
        "register-client-credentials-scope": [],
        "register-default-properties": {},
        "resource-allowed": true,
        "resource-scope": { tools: [resource] },
        "resource-client-property": "resource",
        "subject-type": "public",
    },
});

// Signs in as the administrator, as soon as there is somebody to sign in at.
async function begin() {
    const deadline = Date.now() + START_LIMIT_MS;
    for (;;) {
        try {
            const answer = await post("auth", ADMIN);
            return answer.headers.getSetCookie()[0].split(";")[0];
        } catch (error) {
            if (Date.now() > deadline) throw error;
            await new Promise((wake) => setTimeout(wake, LOOK_MS));
        }
    }
}

async function set(path, value) {
    const answer = await post(path, value, { cookie });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}: ${await answer.text()}`);
}

function post(path, value, headers = {}) {
    const content = { "content-type": "application/json", ...headers };
    return fetch(`${within}/api/${path}/`, { method: "POST", headers: content, body: JSON.stringify(value) });
}

async function introspector(authorization) {
    const body = new URLSearchParams({ grant_type: "client_credentials", scope: "introspection" });
    const answer = await fetch(`${within}/api/oidc/token`, { method: "POST", headers: { authorization }, body });
    return `Bearer ${(await answer.json()).access_token}`;
}

async function pass(incoming, response) {
    const body = await bodyOf(incoming);
    const headers = { ...incoming.headers };
    for (const name of ["host", "connection", "content-length", "accept-encoding"]) delete headers[name];
    const { method } = incoming;
    // A client by itself may only ask about tokens of its own.
    if (incoming.url.startsWith("/api/oidc/introspect")) {
        headers.authorization = await introspector(headers.authorization);
    }
    const asked = { method, headers, redirect: "manual", body: method === "GET" ? undefined : body };
    const made = await fetch(`${within}${incoming.url}`, asked);
    const content = Buffer.from(await made.arrayBuffer());
    const path = new URL(incoming.url, origin).pathname;
    if (path === "/login.html") say("login page");
    if (path.startsWith("/api/auth/grant/") && method === "PUT") say("consent page");
    if (path === "/api/oidc/token") sayGrant(incoming, body, made, content.toString());
    if (path === "/api/oidc/revoke") say("grant revoked", { status: made.status });
    for (const [name, value] of made.headers) {
        if (!OF_ONE_LEG.has(name)) response.appendHeader(name, value);
    }
    response.writeHead(made.status).end(content);
}

serve(
    createServer((request, response) => pass(request, response).catch((error) => {
        say("fault", { why: String(error.stack) });
        if (!response.headersSent) response.writeHead(500);
        response.end("fault");
    })),
    port,
    { metadata: `${issuer}/.well-known/openid-configuration`, ...guard },
);
