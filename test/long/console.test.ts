/** The console in a real Chromium, against a real service with the default chat model. */

import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import { type Service, startService } from "../support/service.ts";

const AXE = createRequire(import.meta.url).resolve("axe-core/axe.min.js");
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
`;

interface AnimationOfPage {
  effect: { getComputedTiming(): { endTime: number } } | null;
}

describe.runIf(hasChromium)("the console", () => {
  let service: Service;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** Errors and warnings of the browser, such as violations of the content security policy. */
  const complaints: string[] = [];

  beforeAll(async () => {
    service = await startService({ config: CONFIG });
    browser = await launchChromium();
    context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      // Chromium reports every refused request: that a limit is not set, or is reached.
      if (message.type() === "error" && !/status of (404|429)/.test(message.text())) {
        complaints.push(`${message.text()} (${message.location().url})`);
      }
    });
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  const open = (path: string) => page.goto(`${service.origin}/#${path}`);

  async function ask(text: string): Promise<void> {
    await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Send" }).waitFor();
  }

  async function expectAccessible(): Promise<void> {
    // A button that fades out of its loading state has less contrast for a moment.
    await page.waitForFunction(() => {
      const { document } = globalThis as unknown as { document: { getAnimations(): AnimationOfPage[] } };
      return document.getAnimations().every(({ effect }) => effect?.getComputedTiming().endTime === Infinity);
    });
    // `page.addScriptTag` would violate the content security policy.
    await page.evaluate(await readFile(AXE, "utf8"));
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
      };
      const { violations: found } = await axe.run();
      return found.map(
        ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("\n")}`,
      );
    });
    expect(violations).toEqual([]);
  }

  test("leads a newcomer from the printed link to a first answer of the default model", async () => {
    const [, link = ""] = /Console +(\S+)/.exec(service.output()) ?? [];
    await page.goto(link);
    await ask("What is the capital of France?");
    await page.getByTestId("measures").waitFor();
    expect(await page.getByTestId("measures").textContent()).toMatch(/tok\/s · first token .* → \d+ tokens/);
    expect(page.url()).not.toContain("code=");
    expect(await page.evaluate("JSON.stringify({ ...localStorage, cookie: document.cookie })")).not.toMatch(/sk-/);
    await expectAccessible();
  });

  test("shows an answer's HTML as text and loads nothing for its images", async () => {
    await page.getByRole("button", { name: "New conversation" }).click();
    await page.getByRole("combobox", { name: "Models" }).click();
    await page.getByRole("option", { name: "hostile" }).click();
    await page.keyboard.press("Escape");
    await ask(HOSTILE);
    await page.getByText("bold", { exact: true }).waitFor();
    const log = page.getByRole("log");
    expect(await log.locator("img, script").count()).toBe(0);
    expect(await log.locator('a[href^="javascript"]').count()).toBe(0);
    expect(await page.evaluate(() => "stolen" in globalThis)).toBe(false);
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
    await page.getByRole("cell", { name: HOSTILE }).waitFor();
    await expectAccessible();

    const guest = await browser.newContext();
    const guestPage = await guest.newPage();
    guestPage.setDefaultTimeout(60_000);
    await guestPage.goto(service.origin);
    await guestPage.getByLabel("API key or admin key").fill(key);
    await guestPage.getByRole("button", { name: "Sign in" }).click();
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
    await guestPage.getByRole("button", { name: "Sign in" }).waitFor();
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
    await expectAccessible();
    await open("/embeddings");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByTestId("nearest").waitFor();
    expect(await page.getByTestId("nearest").getByRole("row").first().textContent()).toMatch(/login|password/);
    await open("/transcription");
    await page.locator("input[type=file]").setInputFiles("test/recordings/speech.mp3");
    await page.getByRole("button", { name: "Transcribe" }).click();
    expect((await page.getByTestId("transcript").textContent())?.length).toBeGreaterThan(10);
    await expectAccessible();
    await open("/speech");
    await page.getByRole("button", { name: "Speak" }).click();
    await page.locator("audio").waitFor();
    await page.waitForFunction("document.querySelector('audio')?.duration > 1");
  });

  test.each(["light", "dark"] as const)(
    "fits a phone on every page and passes axe, in the %s theme",
    async (scheme) => {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width: 390, height: 844 });
      for (const path of ["/chat", "/overview", "/requests", "/usage", "/models", "/projects", "/audit", "/speech"]) {
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
    expect(complaints).toEqual([]);
  });
});
