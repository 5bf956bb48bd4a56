// What the providers share: their pages, their port and the lines that they say.

import { createServer } from "node:http";

const FORMS = {
    login: `<input name="login" type="text" autofocus><input name="password" type="password">
        <button type="submit">Sign in</button>`,
    consent: `<button type="submit" name="answer" value="allow">Allow</button>
        <button type="submit" name="answer" value="deny">Deny</button>`,
};
const BODY_LIMIT = 64 * 1024;

/** Answers with a form: `login` or `consent`. A script may send it in its own way. */
export function page(response, name, action, text, script = "") {
    const said = text.replace(/[&<>"]/g, (character) => `&#${character.codePointAt(0)};`);
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
    response.end(`<!doctype html><html lang="en"><meta charset="utf-8"><title>${name}</title><p>${said}</p>
        <form method="post" action="${action}">${FORMS[name]}</form><script>${script}</script></html>`);
}

/** The fields of a form that was sent. */
export async function formOf(request) {
    return new URLSearchParams(await bodyOf(request));
}

export async function bodyOf(request) {
    let body = "";
    for await (const part of request) {
        body += part;
        if (body.length > BODY_LIMIT) throw new Error("the body is too long");
    }
    return body;
}

/** Writes an event where `providers.py` reads it. */
export function say(event, fields = {}) {
    console.log(JSON.stringify({ event, ...fields }));
}

/** Says what a request for tokens came to. */
export function sayGrant(request, body, answer, text) {
    const asked = new URLSearchParams(body);
    const said = text ? JSON.parse(text) : {};
    if (!answer.ok) return say("grant refused", { why: said.error_description ?? `${answer.status}: ${text}` });
    const authorization = request.headers.authorization;
    if (said.refresh_token) {
        say("refresh token", { token: said.refresh_token, client: asked.get("client_id"), authorization });
    }
    return say("grant", { type: asked.get("grant_type") });
}

export async function freePort() {
    const holder = createServer();
    await new Promise((ready) => holder.listen(0, "127.0.0.1", ready));
    const { port } = holder.address();
    await new Promise((ready) => holder.close(ready));
    return port;
}

/**
 * Listens on a port of this machine, and says so with what others need to know. SIGUSR2 closes it with all its
 * connections, or opens it again.
 */
export function serve(server, port, known = {}) {
    // Without a port, nothing else would keep the process.
    setInterval(() => {}, 1000);
    const listen = () => server.listen(Number(port), "127.0.0.1", () => say("listening", known));
    process.on("SIGUSR2", () => {
        if (!server.listening) return listen();
        server.close(() => say("closed"));
        return server.closeAllConnections();
    });
    listen();
}
