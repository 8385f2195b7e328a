/** Tasks of the console that no other suite does; `test/support/console/tasks.ts` lists them all. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const SOURCE = { url: "https://tides.example/", title: "Tides", content: "A spring tide follows the new moon." };
const FIRST_PASSWORD = "correct horse battery staple";
const SECOND_PASSWORD = "battery staple correct horse";
const EMAIL = "ada@example.com";

const configOf = (searchEngine: string) => `
local: { load: on_demand }
web_search: { engine: endpoint, url: "${searchEngine}" }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true }
        replies:
          - { match_tool: "/new moon/", text: "After the new moon【w1】." }
          - { match: "tide", tool_calls: [{ name: web_search, arguments: { query: spring tide } }] }
  - { id: paint, task: image, deployments: [{ engine: scripted, replies: [{}] }] }
`;

describe.runIf(hasChromium)("further tasks of the console", () => {
  const cleanup = new AsyncDisposableStack();
  let session: ConsoleSession;

  beforeAll(async () => {
    const engine = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ results: [SOURCE] }));
    });
    cleanup.defer(() => void engine.close());
    await new Promise<void>((listening) => engine.listen(0, "127.0.0.1", listening));
    const config = configOf(`http://127.0.0.1:${(engine.address() as AddressInfo).port}`);
    session = cleanup.use(await startConsole(config, { hears: false }));
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => cleanup.disposeAsync());

  /** Another browser, in which somebody else works. */
  async function newPage(): Promise<Page> {
    const context = await session.browser.newContext({ viewport: { width: 1280, height: 800 } });
    cleanup.defer(() => context.close());
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    return page;
  }

  test("searches the web for an answer, which names its sources", async () => {
    const { page, chatWith, ask, expectAccessible } = session;
    await chatWith("agent");
    await page.getByRole("button", { name: "Web search" }).click();
    await ask("When is the spring tide?");
    await page.getByText("Searched the web").waitFor();
    const source = page.getByRole("region", { name: "Sources" }).getByRole("link", { name: "1. Tides" });
    expect(await source.getAttribute("href")).toBe(SOURCE.url);
    await expectAccessible();
  });

  test("makes images from a prompt, and downloads one", async () => {
    const { page, open, download, expectAccessible } = session;
    await open("/images");
    await page.getByRole("textbox", { name: "Prompt" }).fill("An otter in a river");
    await page.getByLabel("Images", { exact: true }).fill("2");
    await page.getByRole("button", { name: "Generate" }).click();
    await page.getByText(/^2 images in /).waitFor();
    expect(await page.getByRole("img", { name: "An otter in a river" }).count()).toBe(2);
    await expectAccessible();
    const { name, content } = await download(() => page.getByRole("link", { name: "Download" }).last().click());
    expect([name, content.subarray(1, 4).toString()]).toEqual(["image-2.png", "PNG"]);
  });

  test("loads and unloads a model", async () => {
    const { page, open } = session;
    await open("/models");
    const row = page.getByRole("row", { name: /moderation-omni/ });
    const isLoaded = async () => {
      const { origin, apiKey } = session.service;
      const url = `${origin}/v1/models?include_metadata=true`;
      const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
      const { data } = (await response.json()) as { data: { id: string; metadata: { loaded: boolean } }[] };
      return data.find(({ id }) => id === "moderation-omni")?.metadata.loaded;
    };
    await row.getByRole("button", { name: "Load" }).click();
    await page.getByText("moderation-omni is loaded").waitFor();
    expect(await isLoaded()).toBe(true);
    await row.getByRole("button", { name: "Unload" }).click();
    await page.getByText("moderation-omni is unloaded").waitFor();
    expect(await isLoaded()).toBe(false);
    await row.getByRole("button", { name: "Load" }).waitFor();
  });

  test("sets a password by an administrator's link, and changes it", async () => {
    const { page, open, admin, service } = session;
    const { token } = await admin("POST", "/invites", { email: EMAIL, role: "owner", projects: [] });
    const theirs = await newPage();
    await theirs.goto(`${service.origin}/#/invite?token=${token}`);
    await theirs.getByLabel("Your name").fill("Ada Lovelace");
    await theirs.getByLabel("New password").fill("a password that is forgotten");
    await theirs.getByRole("button", { name: "Accept with a password" }).click();
    await theirs.getByRole("button", { name: "Sign out" }).click();
    await theirs.getByLabel("E-mail address").waitFor();

    await open("/people");
    await page.getByRole("link", { name: "Ada Lovelace" }).click();
    await page.getByRole("button", { name: "Password link" }).click();
    const link = (await page.getByTestId("link").textContent())?.trim() ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await theirs.goto(link);
    await theirs.getByLabel("New password").fill(FIRST_PASSWORD);
    await theirs.getByRole("button", { name: "Set password and sign in" }).click();
    await theirs.getByRole("button", { name: "Sign out" }).waitFor();

    await theirs.goto(`${service.origin}/#/account?tab=password`);
    await theirs.getByRole("textbox", { name: "Current password" }).fill(FIRST_PASSWORD);
    await theirs.getByRole("textbox", { name: "New password" }).fill(SECOND_PASSWORD);
    await theirs.getByRole("button", { name: "Change password" }).click();
    await theirs.getByRole("button", { name: "Change password" }).waitFor({ state: "detached" });
    await theirs.getByRole("button", { name: "Sign out" }).click();
    await theirs.getByLabel("E-mail address").fill(EMAIL);
    await theirs.getByRole("textbox", { name: "Password" }).fill(SECOND_PASSWORD);
    await theirs.getByRole("button", { name: "Sign in", exact: true }).click();
    await theirs.getByRole("button", { name: "Sign out" }).waitFor();
  });

  test("finds who changed something, and shows the event as JSON", async () => {
    const { page, open, pick, admin, expectAccessible } = session;
    await admin("POST", "/projects", { name: "Tides" });
    await open("/audit");
    await page.getByText("created the project Tides").waitFor();
    await page
      .getByText(/the user Ada Lovelace/)
      .first()
      .waitFor();
    await pick("What it is about", "Projects and organization");
    await page
      .getByText(/the user Ada Lovelace/)
      .first()
      .waitFor({ state: "detached" });
    const row = page.getByRole("row", { name: /created the project Tides/ });
    await row.getByText("project.created").click();
    await row.getByText('"name": "Tides"').waitFor();
    await expectAccessible();
  });

  test("shows people what they have used and may spend", async () => {
    const { page, open, service } = session;
    await open("/people");
    await page.getByRole("link", { name: "Ada Lovelace" }).click();
    await page.getByRole("combobox", { name: "Project", exact: true }).selectOption("Default project");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page
      .getByRole("cell", { name: "Default project" })
      .or(page.getByRole("link", { name: "Default project" }))
      .first()
      .waitFor();
    const theirs = await newPage();
    await theirs.goto(service.origin);
    await theirs.getByLabel("E-mail address").fill(EMAIL);
    await theirs.getByRole("textbox", { name: "Password" }).fill(SECOND_PASSWORD);
    await theirs.getByRole("button", { name: "Sign in", exact: true }).click();
    await theirs.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    await theirs.goto(`${service.origin}/#/account`);
    await theirs.locator("#main").getByRole("link", { name: "My usage" }).click();
    await theirs.getByRole("heading", { name: "My usage" }).waitFor();
    await theirs.getByText("Tokens this month").waitFor();
    await theirs.getByText("No budget bounds you or your keys alone.").waitFor();
    await theirs
      .getByText(/^No keys/)
      .first()
      .waitFor();
  });

  test("changes the theme, and keeps it over a reload", async () => {
    const { page, open } = session;
    const scheme = () => page.evaluate("document.documentElement.dataset.mantineColorScheme");
    await page.emulateMedia({ colorScheme: "light" });
    await open("/files");
    await page.getByRole("button", { name: "Use the dark theme" }).click();
    await expect.poll(scheme).toBe("dark");
    await page.reload();
    await page.getByRole("button", { name: "Use the light theme" }).waitFor();
    expect(await scheme()).toBe("dark");
  });

  test("leaves no error in the browser's console", () => {
    expect(session.complaints).toEqual([]);
  });
});
