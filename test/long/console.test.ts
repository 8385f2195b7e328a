/** The console in a real Chromium, against a real service with the default chat model. */

import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";
import type { Service } from "../support/service/service.ts";
import { administrationCases } from "./console/administration-cases.ts";
import { audioCases } from "./console/audio-cases.ts";
import { CHAT_MODELS, chatCases } from "./console/chat-cases.ts";

const MAX_FIRST_LOAD_BYTES = 250_000;
const HOSTILE = `<img src=x onerror="globalThis.stolen=1">`;
/** An answer that tries what Markdown could do. */
const HOSTILE_ANSWER = [
  HOSTILE,
  "<script>globalThis.stolen=1</script>",
  "[link](javascript:globalThis.stolen=1)",
  "![pixel](https://attacker.example/pixel.png)",
  "**bold**",
].join("\n\n");

const CONFIG = `
local: { load: on_demand }
models:
  - id: hostile
    task: chat
    price: { prompt: "0.01", completion: "0.01" }
    deployments: [{ engine: scripted, replies: [{ text: ${JSON.stringify(HOSTILE_ANSWER)} }] }]
  - id: talkative
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "${"Let me tell you a long story. ".repeat(8)}" }] }]
${CHAT_MODELS}`;

describe.runIf(hasChromium)("the console", () => {
  let session: ConsoleSession;
  let service: Service;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let open: ConsoleSession["open"];
  let ask: ConsoleSession["ask"];
  let expectAccessible: ConsoleSession["expectAccessible"];

  beforeAll(async () => {
    session = await startConsole(CONFIG);
    ({ service, browser, context, page, open, ask, expectAccessible } = session);
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  /** Compressed bytes of what the browser loaded before the first answer. */
  const firstLoadBytes = () =>
    page.evaluate(() => {
      interface Loaded {
        encodedBodySize: number;
        name: string;
      }
      const { performance } = globalThis as unknown as { performance: { getEntries(): Loaded[] } };
      const files = performance.getEntries().filter(({ name }) => /\/$|\/#|\/assets\//.test(name));
      return files.reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0);
    });

  test("leads a newcomer from a sign-in link to a first answer of the default model", async () => {
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    const bytes = await firstLoadBytes();
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(MAX_FIRST_LOAD_BYTES);
    // The default model may answer a short question with a long text.
    await session.withParameters(() => page.getByLabel("Max tokens").fill("60"));
    await ask("What is the capital of France?");
    await page.getByTestId("measures").waitFor();
    expect(await page.getByTestId("measures").textContent()).toMatch(/tok\/s · first token .* → \d+ tokens/);
    expect(page.url()).not.toContain("code=");
    expect(await page.evaluate("JSON.stringify({ ...localStorage, cookie: document.cookie })")).not.toMatch(/sk-/);
    await expectAccessible();
  });

  test("shows an answer's HTML as text and loads nothing for its images", async () => {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByRole("button", { name: /^Model: / }).click();
    await page.getByRole("option", { name: "hostile" }).click();
    await ask(HOSTILE);
    await page.getByText("bold", { exact: true }).waitFor();
    const log = page.getByRole("log");
    expect(await log.locator("img, script").count()).toBe(0);
    expect(await log.locator('a[href^="javascript"]').count()).toBe(0);
    expect(await page.evaluate(() => "stolen" in globalThis)).toBe(false);
  });

  test("continues an earlier conversation, also after a reload, deletes it, and undoes that", async () => {
    const log = page.getByRole("log");
    const list = page.getByRole("complementary", { name: "Conversations" });
    const remove = async () => {
      await list.getByRole("button", { name: /^Options of What is the capital/ }).click();
      await page.getByRole("menuitem", { name: "Delete" }).click();
    };
    await list.getByRole("button", { name: /^What is the capital/ }).click();
    await log.getByText("What is the capital of France?").waitFor();
    expect(await log.getByText("bold", { exact: true }).count()).toBe(0);
    await page.reload();
    await log.getByText("What is the capital of France?").waitFor();
    await expectAccessible();
    await remove();
    await page.getByRole("button", { name: "Undo" }).click();
    await list.getByRole("button", { name: /^What is the capital/ }).waitFor();
    await remove();
    await list.getByRole("button", { name: /^What is the capital/ }).waitFor({ state: "detached" });
    expect(await list.getByRole("button", { name: /^Options of / }).count()).toBe(1);
    expect(await log.getByText("What is the capital of France?").count()).toBe(0);
  });

  test("creates a project with a spend limit and a key, whose requests are refused at the limit", async () => {
    await open("/projects");
    await page.getByRole("button", { name: "New project" }).click();
    await page.getByLabel("Name").fill(HOSTILE);
    await page.getByRole("button", { name: "Create project" }).click();
    await page.getByRole("heading", { name: HOSTILE }).waitFor();
    await page.getByRole("tab", { name: "Limits" }).click();
    await page.getByLabel("Limit per calendar month").fill("0.01");
    await page.getByRole("button", { name: "Save spend limit" }).click();
    await page.getByText("Spend limit saved").waitFor();
    await page.getByRole("tab", { name: "Keys" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill(HOSTILE);
    await page.getByRole("button", { name: "Create key" }).click();
    const key = (await page.getByTestId("secret").first().textContent())?.trim() ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: HOSTILE }).first().waitFor();
    await expectAccessible();

    const guest = await browser.newContext();
    const guestPage = await guest.newPage();
    guestPage.setDefaultTimeout(60_000);
    await guestPage.goto(service.origin);
    await guestPage.getByLabel("API key or admin key").fill(key);
    await guestPage.getByRole("button", { name: "Sign in", exact: true }).click();
    await guestPage.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    expect(await guestPage.getByRole("link", { name: "Projects" }).count()).toBe(0);
    const chat = () =>
      service
        .client({ apiKey: key, maxRetries: 0 })
        .chat.completions.create({ model: "hostile", messages: [{ role: "user", content: "Hello" }] });
    await expect(chat()).rejects.toMatchObject({ status: 429 });

    await page.getByRole("row", { name: HOSTILE }).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByText("No keys yet").waitFor();
    await guestPage.goto(`${service.origin}/#/overview`);
    await guestPage.getByRole("button", { name: "Sign in", exact: true }).waitFor();
    await guest.close();
    expect(await page.evaluate(() => "stolen" in globalThis)).toBe(false);
  });

  test("shows the requests and their usage", async () => {
    await open("/requests");
    await page
      .getByRole("cell", { name: /hostile/ })
      .first()
      .waitFor();
    await service
      .client()
      .chat.completions.create({ model: HOSTILE, messages: [{ role: "user", content: "x" }] })
      .catch(() => {});
    await page.getByText(HOSTILE).first().waitFor();
    await expectAccessible();
    await open("/usage");
    await page.getByRole("cell", { name: "hostile", exact: true }).waitFor();
    await expectAccessible();
    expect(await page.evaluate(() => "stolen" in globalThis)).toBe(false);
  });

  test("moderates, embeds, speaks and transcribes with the default models", async () => {
    await open("/moderation");
    await page.getByLabel("Text").fill("I will hurt you");
    await page.getByRole("button", { name: "Moderate" }).click();
    await page.getByTestId("moderation").waitFor();
    await page.getByTestId("threshold").first().waitFor();
    expect(await page.getByTestId("threshold").count()).toBe(13);
    await expectAccessible();
    await open("/embeddings");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByTestId("nearest").waitFor();
    expect(await page.getByTestId("nearest").getByRole("row").first().textContent()).toMatch(/login|password/);
    await page.getByText("Rerank", { exact: true }).click();
    await page.getByTestId("nearest").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Rank", exact: true }).click();
    await page.getByTestId("nearest").waitFor();
    expect(await page.getByTestId("nearest").getByRole("row").first().textContent()).toMatch(/login|password/);
    await expectAccessible();
    await open("/transcription");
    await page.locator("input[type=file]").setInputFiles("test/recordings/speech.mp3");
    await page.getByRole("button", { name: "Transcribe" }).click();
    await page.getByRole("button", { name: "Copy text" }).waitFor();
    expect((await page.getByTestId("transcript").textContent())?.length).toBeGreaterThan(10);
    expect(await page.getByTestId("transcript").getByRole("button").count()).toBeGreaterThan(0);
    await expectAccessible();
    await open("/speech");
    await page
      .getByRole("button", { name: /^Listen to/ })
      .first()
      .click();
    await page.getByRole("button", { name: /^Stop the sample/ }).waitFor();
    await page.getByRole("button", { name: "Speak" }).click();
    await page.getByRole("link", { name: "Download", exact: true }).waitFor();
    const seconds = await page
      .locator("audio[controls]")
      .evaluate((audio) => (audio as { duration?: number }).duration);
    expect(seconds).toBeGreaterThan(1);
    await expectAccessible();
  });

  chatCases(() => session);
  audioCases(() => session);
  administrationCases(() => session);

  test("limits a key and the organization, and moderates a project by a form", async () => {
    await open("/projects");
    await page.getByRole("link", { name: "Default project" }).click();
    await page.getByRole("tab", { name: "Moderation" }).click();
    await page.getByRole("radiogroup", { name: "Messages of the client" }).getByText("Block").click();
    await page.getByRole("button", { name: "Save moderation policy" }).click();
    await page.getByText("Moderation policy saved").waitFor();
    await expectAccessible();
    await page.getByRole("radiogroup", { name: "Messages of the client" }).getByText("Off").click();
    const languages = page.getByRole("radiogroup", { name: "Unknown languages" });
    const save = page.getByRole("button", { name: "Save moderation policy" });
    await languages.getByText("Another model").click();
    await save.click();
    await page.getByText("Select a model", { exact: true }).waitFor();
    await session.pick("Model for other languages", "moderation-omni");
    await save.click();
    const id = page.url().split("/").at(-1)?.split("?")[0];
    const policy = () => session.admin("GET", `/projects/${id}/moderation_policy`);
    await expect.poll(policy).toMatchObject({
      policy: { input: null, output: null },
      unsupported_language: { action: "model", model: "moderation-omni" },
    });
    await languages.getByText("Refuse").click();
    await save.click();
    await expect.poll(policy).toMatchObject({ unsupported_language: { action: "refuse", model: null } });
    await expectAccessible();
    await languages.getByText("Pass").click();
    await save.click();
    await expect.poll(policy).toMatchObject({ error: { code: "not_found" } });
    await page.getByRole("tab", { name: "Keys" }).click();
    await page.getByRole("button", { name: "Spend limit" }).first().click();
    await page.getByLabel("Limit per calendar month").fill("25");
    await page.getByRole("button", { name: "Save spend limit" }).click();
    await page.getByText("Spend limit saved").waitFor();
  });

  test("creates and revokes an admin key", async () => {
    await open("/organization");
    await page.getByRole("button", { name: "New admin key" }).click();
    await page.getByLabel("Name").fill("Auditor");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = (await page.getByTestId("secret").first().textContent())?.trim() ?? "";
    const list = () =>
      fetch(`${service.origin}/v1/organization/projects`, { headers: { authorization: `Bearer ${key}` } });
    expect((await list()).status).toBe(200);
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("row", { name: "Auditor" }).getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("row", { name: "Auditor" }).waitFor({ state: "detached" });
    await expect.poll(async () => (await list()).status).toBe(401);
  });

  test("shows the configuration without secrets, and every route of the API", async () => {
    await open("/configuration");
    await page.getByText("server.max_body_bytes").first().waitFor();
    const text = (await page.locator("#main").textContent()) ?? "";
    expect(text).toContain("[redacted]");
    expect(text).not.toContain(service.adminKey);
    await expectAccessible();
    await open("/reference");
    await page.getByRole("button", { name: /POST \/v1\/chat\/completions(?!\/)/ }).click();
    await page.getByText("max_completion_tokens").waitFor();
    await expectAccessible();
  });

  test.each(["light", "dark"] as const)(
    "fits a phone on every page and passes axe, in the %s theme",
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width: 390, height: 844 });
      for (const path of [
        "/chat",
        "/prompts",
        "/evals",
        "/overview",
        "/requests",
        "/usage",
        "/models",
        "/projects",
        "/budgets",
        "/my-usage",
        "/audit",
        "/people",
        "/files",
        "/batches",
        "/stores",
        "/mcp",
        "/webhooks",
        "/moderation",
        "/embeddings",
        "/talk",
        "/speech",
        "/images",
        "/transcription",
        "/organization",
        "/connections",
        "/configuration",
        "/reference",
      ]) {
        await open(path);
        await page.getByRole("heading", { level: 1 }).or(page.getByRole("log")).first().waitFor();
        await page.waitForLoadState("networkidle").catch(() => {});
        const width = await page.evaluate("document.documentElement.scrollWidth");
        expect([path, width]).toEqual([path, 390]);
        await expectAccessible();
      }
      await page.setViewportSize({ width: 1280, height: 800 });
    },
  );

  test("refuses to be framed", async () => {
    const frame = await context.newPage();
    await frame.route("https://attacker.example/", (route) =>
      route.fulfill({ contentType: "text/html", body: `<iframe src="${service.origin}/"></iframe>` }),
    );
    await frame.goto("https://attacker.example/");
    await frame.waitForTimeout(500);
    const inner = frame.frames()[1];
    expect(await inner?.locator("#root").count()).toBe(0);
    await frame.close();
  });

  test("leaves no error and no policy violation in the browser's console", () => {
    expect(session.complaints).toEqual([]);
  });
});
