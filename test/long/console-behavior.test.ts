/** What the console does when input is refused, pages are left or reloaded, and sessions or services end. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const MODELS = 200;
const CONFIG = `
builtin_models: false
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - id: slow
    task: chat
    deployments: [{ engine: scripted, replies: [{ text: "${"word ".repeat(300)}", delay_ms_per_token: 50 }] }]
${Array.from({ length: MODELS }, (_each, index) => `  - { id: many-${index}, task: chat, deployments: [{ engine: scripted, echo: true }] }`).join("\n")}
`;
/** Longer than any name that the service accepts. */
const TOO_LONG = "x".repeat(2000);

describe.runIf(hasChromium)("the console", () => {
  let session: ConsoleSession;
  let page: Page;
  let open: ConsoleSession["open"];

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    ({ page, open } = session);
    const [, link = ""] = /Console +(\S+)/.exec(session.service.output()) ?? [];
    await page.goto(link);
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const dialog = () => page.getByRole("dialog");

  describe("shows why a form was refused", () => {
    const REFUSED = /No model is called|must (be|have)|at most/;
    const expectRefused = async (label: string | RegExp) => {
      const field = dialog().getByLabel(label);
      await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
      const described = (await field.getAttribute("aria-describedby")) ?? "";
      const text = await page.evaluate<string>(
        `${JSON.stringify(described.split(" "))}.map((id) => document.getElementById(id)?.textContent ?? "").join(" ")`,
      );
      expect(text).toMatch(REFUSED);
      await page.keyboard.press("Escape");
    };

    test("of a pull", async () => {
      await open("/models");
      await page.getByRole("button", { name: "Pull a model" }).click();
      await dialog().getByLabel("Model ID").fill("no-such-model");
      await dialog().getByRole("button", { name: "Pull", exact: true }).click();
      await expectRefused("Model ID");
    });

    test("of a project's name", async () => {
      await open("/projects");
      await page.getByRole("button", { name: "New project" }).click();
      await dialog().getByLabel("Name").fill(TOO_LONG);
      await dialog().getByRole("button", { name: "Create project" }).click();
      await expectRefused("Name");
    });

    test("of a new key", async () => {
      await open("/projects");
      await page.getByRole("link", { name: "Default project" }).click();
      await page.getByRole("button", { name: "New key" }).click();
      await dialog().getByLabel("Name").fill(TOO_LONG);
      await dialog().getByRole("button", { name: "Create key" }).click();
      await expectRefused("Name");
    });

    test("of a service account", async () => {
      await open("/projects");
      await page.getByRole("link", { name: "Default project" }).click();
      await page.getByRole("tab", { name: "Service accounts" }).click();
      await page.getByRole("button", { name: "New service account" }).click();
      await dialog().getByLabel("Name").fill(TOO_LONG);
      await dialog().getByRole("button", { name: "Create service account" }).click();
      await expectRefused("Name");
    });

    test("of a project's key", async () => {
      const context = await session.browser.newContext();
      const other = await context.newPage();
      await other.goto(session.service.origin);
      await other.getByLabel("API key or admin key").fill(session.service.adminKey);
      await other.getByRole("button", { name: "Sign in" }).click();
      await other.getByRole("heading", { name: "Overview" }).waitFor();
      await other.goto(`${session.service.origin}/#/chat`);
      await other.getByLabel("API key").fill("sk-wrong");
      await other.getByRole("button", { name: "Add" }).click();
      await other.getByText(/Incorrect API key/).waitFor();
      await context.close();
    });
  });

  test("goes on answering while another page is shown, and keeps what was said through a reload", async () => {
    await session.chatWith("slow");
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("Count");
    await page.keyboard.press("Enter");
    const log = page.getByRole("log");
    await log.getByText("word word word").waitFor();
    const words = async () => (await log.textContent())?.match(/word/g)?.length ?? 0;
    const before = await words();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.waitForTimeout(1500);
    await page.goBack();
    await log.getByText("Count", { exact: true }).waitFor();
    expect(await words()).toBeGreaterThan(before + 10);
    await page.getByRole("button", { name: "Stop", exact: true }).waitFor();
    const shown = await words();
    await page.reload();
    await log.getByText("Count", { exact: true }).waitFor();
    await log.getByText("Stopped").waitFor();
    expect(await words()).toBeGreaterThanOrEqual(shown);
  });

  test("names the conversation in the address, so that Back returns to the previous one", async () => {
    await session.chatWith("echo");
    await session.ask("First question");
    expect(page.url()).toContain("c=echo");
    await page.getByRole("button", { name: "New conversation" }).click();
    await session.ask("Second question");
    await page.goBack();
    await page.getByRole("log").getByText("First question", { exact: true }).first().waitFor();
  });

  test("keeps tabs and filters in the address", async () => {
    await open("/projects");
    await page.getByRole("link", { name: "Default project" }).click();
    await page.getByRole("tab", { name: "Limits" }).click();
    await page.reload();
    await page.getByRole("heading", { name: "Rates" }).waitFor();
    await page.goBack();
    await page.getByRole("button", { name: "New key" }).waitFor();
    await open("/usage");
    await session.pick("Time range", "Last hour");
    await page.reload();
    await expect.poll(() => page.getByRole("combobox", { name: "Time range" }).inputValue()).toBe("Last hour");
  });

  test("keeps the dialog of a new key open until it is closed by its button", async () => {
    await open("/projects");
    await page.getByRole("link", { name: "Default project" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    await dialog().getByLabel("Name").fill("Laptop");
    await dialog().getByRole("button", { name: "Create key" }).click();
    await page.getByTestId("secret").first().waitFor();
    await page.keyboard.press("Escape");
    await page.waitForTimeout(500);
    expect(await page.getByTestId("secret").first().isVisible()).toBe(true);
    await dialog().getByRole("button", { name: "Done" }).click();
    await dialog().waitFor({ state: "detached" });
  });

  test("draws 200 models with the rows on the screen only", async () => {
    await open("/models");
    await page.getByText("many-1", { exact: true }).first().waitFor();
    expect(await page.evaluate<number>("document.querySelectorAll('*').length")).toBeLessThan(2500);
    await page.getByRole("textbox", { name: "Search models" }).fill("many-199");
    await page.getByText("many-199", { exact: true }).first().waitFor();
  });

  test("follows requests in seven tabs over one connection", async () => {
    const context = await session.browser.newContext();
    const streams: string[] = [];
    context.on("request", (request) => {
      if (request.url().includes("stream=true")) streams.push(request.url());
    });
    const tabs: Page[] = [];
    for (let index = 0; index < 7; index += 1) {
      const tab = await context.newPage();
      tabs.push(tab);
      await tab.goto(`${session.service.origin}/#/requests`);
      if (index === 0) {
        await tab.getByLabel("API key or admin key").fill(session.service.adminKey);
        await tab.getByRole("button", { name: "Sign in" }).click();
      }
      await tab.getByRole("heading", { name: "Requests" }).waitFor();
    }
    await tabs[0]?.waitForTimeout(1500);
    await session.service
      .client()
      .chat.completions.create({ model: "not-there", messages: [{ role: "user", content: "x" }] })
      .catch(() => {});
    for (const tab of tabs) await tab.getByText("not-there").first().waitFor();
    expect(streams.length).toBe(1);
    // Its tab gives the connection up when it is closed, and another one takes it.
    await tabs[0]?.close();
    await session.service
      .client()
      .chat.completions.create({ model: "also-not-there", messages: [{ role: "user", content: "x" }] })
      .catch(() => {});
    for (const tab of tabs.slice(1)) await tab.getByText("also-not-there").first().waitFor();
    await context.close();
  });

  test("shows the sign-in page once the key is revoked", async () => {
    const { data: projects } = await session.admin("GET", "/projects");
    const path = `/projects/${projects[0].id}`;
    const { api_key: key } = await session.admin("POST", `${path}/service_accounts`, { name: "Guest" });
    const context = await session.browser.newContext();
    const guest = await context.newPage();
    await guest.goto(`${session.service.origin}/#/reference`);
    await guest.getByLabel("API key or admin key").fill(key.value);
    await guest.getByRole("button", { name: "Sign in" }).click();
    await guest.getByRole("heading", { name: "API reference" }).waitFor();
    await session.admin("DELETE", `${path}/api_keys/${key.id}`);
    await guest.getByRole("button", { name: "Sign in" }).waitFor({ timeout: 15_000 });
    await context.close();
  });

  test("leaves no error in the browser's console", () => {
    const refused = /status of (400|401)|no-such-model|\/pull/;
    expect(session.complaints.filter((complaint) => !refused.test(complaint))).toEqual([]);
  });

  // Last, because the service is gone afterwards.
  test("says that the connection was lost when the service is killed during an answer", async () => {
    await session.chatWith("slow");
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("Count");
    await page.keyboard.press("Enter");
    const log = page.getByRole("log");
    await log.getByText("word word word").waitFor();
    await session.service.stop("SIGKILL");
    await log.getByText(/The connection to Parlance was lost/).waitFor();
  });
});
