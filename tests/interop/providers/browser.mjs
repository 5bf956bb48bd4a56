// A person at Chromium: opens an address, fills in the forms of a provider, and allows or denies.
//
//   browser.mjs PROFILE ADDRESS allow|deny
//
// BROWSER_PASSWORD is the password that the person types (default: gardening).
// Prints the title of each page, and what is pressed there. Ends at a page that asks nothing, or with status 1 after
// LIMIT_MS.

import { spawn } from "node:child_process";

const [profile, address, answer] = process.argv.slice(2);
const LIMIT_MS = 30_000;
const LOOK_MS = 100;

// Chromium's own protocol, over its pipes 3 and 4: messages of JSON with a zero byte behind each.
const browser = spawn(
    "chromium",
    [
        "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
        "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
        `--user-data-dir=${profile}`, "about:blank",
    ],
    { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] },
);
// A browser that is ended has no last word.
for (const pipe of [browser.stdio[3], browser.stdio[4]]) pipe.on("error", () => {});
const waiting = new Map();
let received = "";
browser.stdio[4].setEncoding("utf8").on("data", (text) => {
    const messages = (received + text).split("\0");
    received = messages.pop();
    for (const message of messages.map((one) => JSON.parse(one))) {
        waiting.get(message.id)?.(message);
        waiting.delete(message.id);
    }
});
let last = 0;
const ask = (method, params, sessionId) =>
    new Promise((resolve, reject) => {
        last += 1;
        waiting.set(last, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
        browser.stdio[3].write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
    });

// Runs in the page. It acts on each state of a page once: some pages are one for all that they ask.
function act(answer, password) {
    if (document.readyState !== "complete" || location.href === "about:blank") return undefined;
    const said = document.body.innerText;
    const buttons = [...document.querySelectorAll("button")];
    // Some pages lead on by themselves, and Glewlwyd fills in its page later.
    if (document.querySelector("meta[http-equiv=refresh]")) return undefined;
    if (!buttons.length && !document.forms.length && !document.querySelector("#root")) {
        return { title: document.title || said.slice(0, 200), isLast: true };
    }
    if (window.actedOn === said) return undefined;
    window.actedOn = said;
    const enter = (input, text) => {
        // As a person's typing does, so that a page's own script notices.
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, text);
        input.dispatchEvent(new Event("input", { bubbles: true }));
    };
    for (const input of document.querySelectorAll("input[type=text]")) enter(input, input.value || "ann");
    for (const input of document.querySelectorAll("input[type=password]")) enter(input, password);
    for (const input of document.querySelectorAll("input[type=checkbox]:not(:checked)")) input.click();
    const button =
        document.querySelector(`button[value=${answer}]`) ??
        buttons.find(({ innerText }) => ["OK", "Grant access", "Continue"].includes(innerText.trim())) ??
        document.querySelector("form button, button[form]");
    button?.click();
    return { title: `${document.title}: ${button?.innerText.trim() ?? "nothing to press"}`, isLast: false };
}

async function visit() {
    const { targetInfos } = await ask("Target.getTargets");
    const { targetId } = targetInfos.find(({ type }) => type === "page");
    const { sessionId } = await ask("Target.attachToTarget", { targetId, flatten: true });
    await ask("Page.navigate", { url: address }, sessionId);
    const password = process.env.BROWSER_PASSWORD ?? "gardening";
    const expression = `(${act})(${JSON.stringify(answer)}, ${JSON.stringify(password)})`;
    for (;;) {
        // Between two pages there is nobody to answer.
        const asked = ask("Runtime.evaluate", { expression, returnByValue: true }, sessionId);
        const seen = await asked.catch(() => undefined);
        const value = seen?.result?.value;
        if (value) console.log(value.title);
        if (value?.isLast) return;
        await new Promise((wake) => setTimeout(wake, LOOK_MS));
    }
}

function end(status) {
    browser.once("exit", () => process.exit(status));
    browser.kill("SIGKILL");
}

browser.once("error", (error) => { console.error(String(error)); process.exit(1); });
setTimeout(() => { console.error(`no last page within ${LIMIT_MS} ms`); end(1); }, LIMIT_MS).unref();
visit().then(() => end(0), (error) => { console.error(String(error)); end(1); });
