/** The console in other languages than English. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LANGUAGES, PSEUDO_LANGUAGE, SOURCE_LANGUAGE } from "../../console/src/i18n/language.ts";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";
import { ROOT } from "../support/service/executable.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: labeler, task: chat, deployments: [{ engine: scripted, replies: [{ text: Refund }] }] }
`;
const OTHERS = LANGUAGES.map(({ id }) => id).filter((id) => id !== SOURCE_LANGUAGE);
const PAGES = [
  ...["/chat", "/talk", "/speech", "/transcription", "/images", "/moderation", "/embeddings", "/stores", "/prompts"],
  ...[
    "/evals",
    "/mcp",
    "/overview",
    "/requests",
    "/usage",
    "/models",
    "/batches",
    "/files",
    "/skills",
    "/webhooks",
    "/projects",
  ],
  ...["/organization", "/connections", "/configuration", "/budgets", "/people", "/audit"],
];

describe.runIf(hasChromium)("the console in other languages", () => {
  const catalogs = new Map<string, Record<string, string>>();
  let session: ConsoleSession;
  let page: Page;
  let open: ConsoleSession["open"];

  beforeAll(async () => {
    for (const id of OTHERS) {
      catalogs.set(id, JSON.parse(await readFile(join(ROOT, `console/src/i18n/locales/${id}.json`), "utf8")));
    }
    session = await startConsole(CONFIG, { hears: false });
    ({ page, open } = session);
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const textOf = (language: string, key: string): string => catalogs.get(language)?.[key] || key;
  const heading = (name: string) => page.getByRole("heading", { level: 1, name, exact: true });
  const languageOf = (tab: Page) => tab.evaluate("document.documentElement.lang");
  const load = async (tab: Page, path: string) => {
    // Another fragment alone would not load the page.
    await tab.goto("about:blank");
    await tab.goto(`${session.service.origin}/#${path}`);
    await tab.locator("#main h1").first().waitFor({ state: "attached" });
  };
  const upload = (name: string) => {
    const body = new FormData();
    body.set("purpose", "user_data");
    body.set("file", new File(["Rates of the year"], name));
    const headers = { authorization: `Bearer ${session.service.apiKey}` };
    return fetch(`${session.service.origin}/v1/files`, { method: "POST", headers, body });
  };

  test("changes to each language from the menu, keeps it over a reload, and returns to the browser's", async () => {
    await open("/usage");
    await heading("Usage").waitFor();
    let name = "Language";
    for (const id of OTHERS) {
      await page.getByRole("combobox", { name, exact: true }).selectOption(id);
      await heading(textOf(id, "Usage")).waitFor();
      expect(await languageOf(page)).toBe(id);
      name = textOf(id, "Language");
      expect(await page.getByRole("combobox", { name, exact: true }).inputValue()).toBe(id);
    }
    // Neither a question nor the place of the keyboard is lost.
    await open("/chat");
    const message = page.locator("#main textarea").first();
    await message.fill("Half a question");
    const list = page.getByRole("combobox", { name, exact: true });
    await list.focus();
    await list.selectOption("de");
    await page.getByRole("textbox", { name: textOf("de", "Message"), exact: true }).waitFor();
    expect(await message.inputValue()).toBe("Half a question");
    name = textOf("de", "Language");
    await expect.poll(() => page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe(name);
    expect(await page.title()).toBe(`${textOf("de", "Chat")} · Parlance`);
    await open("/usage");
    await page.reload();
    await heading(textOf("de", "Usage")).waitFor();
    await page.getByRole("combobox", { name, exact: true }).selectOption("");
    await heading("Usage").waitFor();
    expect(await languageOf(page)).toBe("en");
  });

  test("changes every page where it stands: mounts nothing again, and leaves nothing in the previous language", async () => {
    const listOf = (id: string) => page.getByRole("combobox", { name: textOf(id, "Language"), exact: true });
    const change = async (from: string, to: string) => {
      await listOf(from).selectOption(to, { force: true });
      await listOf(to).waitFor({ state: "attached" });
    };
    /** What is read and heard, without numbers: times go on. */
    const shown = async (tab: Page) => {
      const lines = await tab.evaluate<string[]>(`[
        document.title,
        ...document.body.innerText.split("\\n"),
        ...[...document.querySelectorAll("[aria-label], [placeholder], [data-tooltip]")].flatMap((each) =>
          ["aria-label", "placeholder", "data-tooltip"].map((name) => each.getAttribute(name) ?? "")),
      ]`);
      return new Set(lines.map((line) => line.trim().replace(/\d+/g, "0")));
    };
    const fresh = await session.context.newPage();
    await load(page, "/usage");
    await page.evaluate(`localStorage.setItem("parlance-language", "en")`);
    for (const path of PAGES) {
      await load(page, path);
      await page.evaluate(`document.querySelector("#main h1").dataset.mounted = "before"`);
      await change("en", "de");
      await load(fresh, path);
      const remaining = async () => {
        const expected = await shown(fresh);
        return [path, ...[...(await shown(page))].filter((line) => !expected.has(line))];
      };
      await expect.poll(remaining).toEqual([path]);
      expect([path, await page.locator("#main h1[data-mounted]").count()]).toEqual([path, 1]);
      await change("de", "en");
    }
    await fresh.close();
  });

  test("keeps what was typed into a form when the language changes", async () => {
    await open("/connections");
    await heading("Connections").waitFor();
    const address = page.getByPlaceholder("http://10.0.0.5:8000");
    await address.fill("http://10.0.0.7:9000");
    await page.getByRole("combobox", { name: "Language", exact: true }).selectOption("fr");
    await heading(textOf("fr", "Connections")).waitFor();
    expect(await address.inputValue()).toBe("http://10.0.0.7:9000");
    await page.getByRole("combobox", { name: textOf("fr", "Language"), exact: true }).selectOption("");
    await heading("Connections").waitFor();
  });

  test("leaves a dialog open when the palette changes the language", async () => {
    await open("/projects");
    await page.getByRole("button", { name: "New project", exact: true }).click();
    const input = page.getByRole("dialog").getByRole("textbox");
    await input.fill("Support desk");
    await page.keyboard.press("Control+k");
    await page.getByPlaceholder("Go to a page, model, project or conversation").fill("Deutsch");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: textOf("de", "New project"), exact: true }).waitFor();
    expect(await input.inputValue()).toBe("Support desk");
    await page.keyboard.press("Escape");
    await page.getByRole("combobox", { name: textOf("de", "Language"), exact: true }).selectOption("");
    await heading("Projects").waitFor();
  });

  test("follows the languages of the browser, with its dates and plurals", async () => {
    const context = await session.browser.newContext({ locale: "de-AT", reducedMotion: "reduce" });
    const tab = await context.newPage();
    await tab.goto(await session.signInLink());
    await tab.getByRole("textbox").first().waitFor();
    expect(await languageOf(tab)).toBe("de");
    for (const [count, form] of [
      [1, "one"],
      [2, "other"],
    ] as const) {
      expect((await upload(`rates-${count}.txt`)).status).toBe(200);
      await tab.goto(`${session.service.origin}/#/overview`);
      await tab.goto(`${session.service.origin}/#/files`);
      const text = textOf("de", `{{count}} files_${form}`).replace("{{count}}", String(count));
      await tab.getByText(text).first().waitFor();
    }
    const { data } = await session.admin("GET", "/projects");
    await tab.goto(`${session.service.origin}/#/projects`);
    const date = new Intl.DateTimeFormat("de-AT", { dateStyle: "medium" }).format(data[0].created_at * 1000);
    await tab.getByRole("cell", { name: date, exact: true }).first().waitFor();
    await context.close();
  });

  test.each(["de", "ja"])("is accessible in %s", async (id) => {
    await page.evaluate(`localStorage.setItem("parlance-language", "${id}")`);
    for (const [path, title] of [
      ["/chat", undefined],
      ["/overview", "Overview"],
      ["/requests", "Requests"],
      ["/projects", "Projects"],
      ["/models", "Models"],
    ] as const) {
      await open(path);
      await page.reload();
      if (title === undefined) await page.getByRole("textbox").first().waitFor();
      else await heading(textOf(id, title)).waitFor();
      await session.expectAccessible();
    }
  });

  test("translates every label, heading, button and column of its pages", async () => {
    await page.evaluate(`localStorage.setItem("parlance-language", "${PSEUDO_LANGUAGE}")`);
    const untranslated: string[] = [];
    for (const path of PAGES) {
      await load(page, path);
      const texts = await page.locator("#main").locator("h2, th, label, button, [role=tab]").allTextContents();
      const english = texts.filter((text) => /\p{L}{3}/u.test(text) && !text.includes("~"));
      untranslated.push(...english.map((text) => `${path} ${text}`));
    }
    // Names of models, of the service and of settings.
    const isName = (each: string) => /labeler|parlance|Operator|^\/configuration [a-z_]+$/.test(each);
    expect(untranslated.filter((each) => !isName(each))).toEqual([]);
  });
});
