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
  - id: repeated
    task: chat
    fallbacks: [echo]
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:9/v1", model: x }]
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
    await page.goto(await session.signInLink());
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
      await other.getByRole("button", { name: "Sign in", exact: true }).click();
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
    await page.getByRole("link", { name: "Operate" }).click();
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

  test("goes to pages, models and projects by the command palette", async () => {
    await open("/overview");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("Control+k");
    const input = page.getByRole("combobox", { name: "Go to or do" });
    await input.fill("usage");
    await page.getByRole("option", { name: /Usage/ }).first().waitFor();
    await session.expectAccessible();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.keyboard.press("Control+k");
    await input.fill("default project");
    await page
      .getByRole("option", { name: /Default project/ })
      .first()
      .click();
    await page.getByRole("button", { name: "New key" }).waitFor();
    await page.keyboard.press("Control+k");
    await input.fill("chat many-7");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    expect(
      await page.getByRole("button", { name: "Remove many-7" }).or(page.getByText("many-7")).count(),
    ).toBeGreaterThan(0);
  });

  test("leads a newcomer through the first steps", async () => {
    await open("/overview");
    const steps = page.getByRole("region", { name: "First steps" });
    await steps.getByRole("button", { name: "Set a limit" }).click();
    await page.getByLabel("Limit per calendar month").fill("25");
    await page.getByRole("button", { name: "Save spend limit" }).click();
    await page.getByText("Spend limit saved").waitFor();
    await steps.locator("li[data-done]").getByText("Set a limit").waitFor();
    // The dialogs are the steps: a key with the lines to paste, and an invite.
    await steps.getByRole("button", { name: "Connect your editor" }).click();
    await dialog().getByLabel("Name").fill("Editor");
    await dialog().getByRole("button", { name: "Create key" }).click();
    await page.getByTestId("secret").first().waitFor();
    await dialog().getByRole("button", { name: "Done" }).click();
    await steps.getByRole("button", { name: "Invite a person" }).click();
    await dialog().getByLabel("E-mail address").fill("grace@example.com");
    await dialog().getByRole("button", { name: "Create invite" }).click();
    await dialog().getByRole("button", { name: "Done" }).click();
    await steps.locator("li[data-done]").getByText("Invite a person").waitFor();
    await session.expectAccessible();
    await steps.getByRole("button", { name: "Dismiss first steps" }).click();
    await page.reload();
    await page.getByRole("heading", { name: "Deployments" }).waitFor();
    expect(await steps.count()).toBe(0);
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
        await tab.getByRole("button", { name: "Sign in", exact: true }).click();
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

  test("filters requests by the address and by the histogram, and exports them", async () => {
    const ask = (model: string) =>
      session.service
        .client({ maxRetries: 0 })
        .chat.completions.create({ model, messages: [{ role: "user", content: "x" }] })
        .catch(() => {});
    await ask("repeated");
    await ask("missing-model");
    await open("/requests?status=failed&model=missing-model");
    await page.getByRole("link", { name: "missing-model" }).first().waitFor();
    expect(await page.getByRole("link", { name: "repeated" }).count()).toBe(0);
    await page
      .getByRole("textbox", { name: "End user" })
      .or(page.getByRole("combobox", { name: "End user" }))
      .fill("ada");
    await page.getByText("No request matches these filters").waitFor();
    expect(page.url()).toContain("user=ada");
    await page.goBack();
    await page.getByRole("link", { name: "missing-model" }).first().waitFor();
    await page.getByRole("radiogroup", { name: "Outcome" }).getByText("Succeeded").click();
    await page.getByText("No request matches these filters").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "missing-model" }).first().waitFor();
    const { name, content } = await session.download(() => page.getByRole("button", { name: "Export CSV" }).click());
    expect(name).toBe("parlance-requests.csv");
    const [head, line = ""] = content.toString().split("\r\n");
    expect(head).toMatch(/^id,ended_at,project_id/);
    expect(line).toMatch(/^req_\w+,\d{4}-\d\d-\d\dT.*,missing-model,,,404,model_not_found/);
    await open("/requests");
    await page.getByRole("link", { name: "repeated" }).first().waitFor();
    // The first bar of the last 24 hours, in which nothing happened.
    const histogram = page.getByRole("slider", { name: "Requests over time" });
    await histogram.focus();
    for (let count = 0; count < 60; count += 1) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.getByText("No request matches these filters").waitFor();
    expect(page.url()).toMatch(/from=\d+/);
    await page.getByRole("button", { name: "Clear filters" }).click();
    // The service sorts all requests, of which the page has only the first.
    const sorted = page.waitForResponse((response) => response.url().includes("sort_by=duration_ms&order=desc"));
    await page.getByRole("button", { name: "Duration" }).click();
    await expect.poll(() => page.url()).toContain("sort=-duration");
    expect((await sorted).status()).toBe(200);
    await page.getByRole("columnheader", { name: "Duration" }).and(page.locator("[aria-sort=descending]")).waitFor();
    expect(await page.getByRole("switch", { name: "Live" }).isDisabled()).toBe(true);
    await session.expectAccessible();
  });

  test("shows the attempts, timing and cost of one request", async () => {
    await open("/requests?model=repeated");
    await page.getByRole("link", { name: "repeated" }).first().click();
    await page.getByRole("heading", { name: "repeated" }).waitFor();
    const waterfall = page.getByTestId("waterfall");
    await waterfall.getByText("Attempt 1").waitFor();
    await waterfall
      .getByText(/upstream_error: .*ECONNREFUSED/)
      .first()
      .waitFor();
    await session.expectAccessible();
    const id = /requests\/(req_\w+)/.exec(page.url())?.[1] ?? "";
    await page.reload();
    await page.getByText(id).waitFor();
    await page.getByRole("button", { name: "Open in chat" }).click();
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    await open("/requests/req_missing");
    await page.getByText(/No request has the ID/).waitFor();
  });

  test("shows the sign-in page once the key is revoked", async () => {
    const { data: projects } = await session.admin("GET", "/projects");
    const path = `/projects/${projects[0].id}`;
    const { api_key: key } = await session.admin("POST", `${path}/service_accounts`, { name: "Guest" });
    const context = await session.browser.newContext();
    const guest = await context.newPage();
    await guest.goto(`${session.service.origin}/#/reference`);
    await guest.getByLabel("API key or admin key").fill(key.value);
    await guest.getByRole("button", { name: "Sign in", exact: true }).click();
    await guest.getByRole("heading", { name: "API reference" }).waitFor();
    await session.admin("DELETE", `${path}/api_keys/${key.id}`);
    await guest.getByRole("button", { name: "Sign in", exact: true }).waitFor({ timeout: 15_000 });
    await context.close();
  });

  test("leaves no error in the browser's console", () => {
    const refused = /status of (400|401|404)|no-such-model|\/pull/;
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
    await page.getByRole("alert").getByText("Parlance does not answer").waitFor();
  });
});
