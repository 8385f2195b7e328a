/** The console's overview for a wall, its charts, and the keys of the console. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const HOSTS = ["127.0.0.1:9", "127.0.0.2:9"];
const upstreams = Array.from({ length: 24 }, (_each, index) => {
  const address = `http://${HOSTS[index % HOSTS.length]}/v1`;
  return `  - { id: upstream-${index}, task: chat, deployments: [{ engine: openai-compatible, base_url: "${address}", model: x }] }`;
});
const CONFIG = `
builtin_models: false
models:
  - { id: echo, task: chat, price: { prompt: "1", completion: "1" }, deployments: [{ engine: scripted, echo: true }] }
  - id: repeated
    task: chat
    fallbacks: [echo]
    deployments: [{ engine: openai-compatible, base_url: "http://127.0.0.1:9/v1", model: x }]
${upstreams.join("\n")}
`;

describe.runIf(hasChromium)("the console's overview", () => {
  let session: ConsoleSession;
  let page: Page;

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    ({ page } = session);
    const client = session.service.client();
    for (const model of ["echo", "repeated"]) {
      await client.chat.completions.create({ model, messages: [{ role: "user", content: "Hello" }] });
    }
    const budget = { name: "All projects", subject: { type: "organization" }, interval: "month" };
    await session.admin("POST", "/budgets", { ...budget, currency: "USD", threshold_amount: 10_000 });
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    await session.open("/overview");
    await page.getByRole("heading", { name: "Deployments" }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  test("shows rates, charts with marks, and budgets as rings, in both themes and on a phone", async () => {
    await page.getByText("Tokens per second").waitFor();
    await page.getByRole("img", { name: /^All projects: \d+ %$/ }).waitFor();
    const chart = page.getByRole("slider", { name: "Requests per minute" });
    await chart.focus();
    await page.keyboard.press("ArrowLeft");
    expect(await chart.getAttribute("aria-valuetext")).toMatch(/^\d\d:\d\d.*, Succeeded \d+, Failed \d+$/);
    await page.locator(".chart-mark").first().waitFor({ state: "attached" });
    await page.getByRole("slider", { name: "Time to first token" }).waitFor();
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await session.expectAccessible();
    }
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("groups many deployments by host, and opens a host", async () => {
    const host = page.getByRole("button", { name: "127.0.0.1:9", exact: true });
    await host.waitFor();
    await page.getByRole("button", { name: "This machine", exact: true }).waitFor();
    expect(await page.getByText("upstream-0", { exact: true }).count()).toBe(0);
    await host.click();
    await page.getByText("upstream-0", { exact: true }).waitFor();
    await session.expectAccessible();
    await host.click();
    await expect.poll(() => page.getByText("upstream-0", { exact: true }).count()).toBe(0);
  });

  test("outlines pages that are loading", async () => {
    const outline = page.getByRole("status", { name: "Loading" });
    const release = Promise.withResolvers<void>();
    await page.route(/\/v1\/(models|organization\/(overview|requests))/, async (route) => {
      await release.promise;
      await route.continue();
    });
    try {
      for (const path of ["/overview", "/requests", "/models", "/moderation"]) {
        await session.open(path);
        await page.reload();
        await outline.first().waitFor();
        // Nothing has arrived yet.
        if (path === "/overview") expect(await page.getByText("Live", { exact: true }).count()).toBe(0);
        await session.expectAccessible();
      }
    } finally {
      release.resolve();
      await page.unrouteAll({ behavior: "ignoreErrors" });
    }
    await session.open("/overview");
    await page.getByRole("heading", { name: "Deployments" }).waitFor();
    await outline.first().waitFor({ state: "detached" });
  });

  test("fills the screen and returns", async () => {
    await page.getByRole("button", { name: "Full screen" }).click();
    await page.getByRole("button", { name: "Leave full screen" }).waitFor();
    expect(await page.evaluate("document.fullscreenElement.className")).toContain("wall");
    await page.getByRole("button", { name: "Leave full screen" }).click();
    await page.getByRole("button", { name: "Full screen", exact: true }).waitFor();
  });

  test("remembers the first steps that are done", async () => {
    const steps = page.getByRole("region", { name: "First steps" });
    for (const step of ["Ask a model", "Connect a host", "Set a limit"]) {
      await steps.locator("li[data-done]").getByText(step).waitFor();
    }
    const { data } = await session.admin("GET", "/budgets");
    await session.admin("DELETE", `/budgets/${data[0].id}`);
    await page.reload();
    await steps.locator("li[data-done]").getByText("Set a limit").waitFor();
    expect(await steps.locator("li[data-done]").count()).toBe(3);
  });

  test("goes to pages by keys, lists them, and leaves what is typed alone", async () => {
    await page.keyboard.press("?");
    const sheet = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await sheet.getByText("New conversation").waitFor();
    await session.expectAccessible();
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });
    await page.keyboard.press("g");
    await page.keyboard.press("u");
    await page.getByRole("heading", { name: "Usage" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to or do" }).fill("failed requests");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Requests" }).waitFor();
    expect(page.url()).toContain("status=failed");
    await session.open("/chat");
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    await message.pressSequentially("go? gu");
    expect(await message.inputValue()).toBe("go? gu");
    expect(page.url()).toContain("/chat");
  });

  test("leaves no error in the browser's console", () => {
    expect(session.complaints).toEqual([]);
  });
});
