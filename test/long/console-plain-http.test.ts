/** The console over plain HTTP from another machine, where browsers lack `crypto.randomUUID` and `navigator.clipboard`. */

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium, launchChromium } from "../support/service/chromium.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const HOST = "parlance.test";
const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;

describe.runIf(hasChromium)("the console over plain HTTP", () => {
  let service: ServiceProcess;
  let browser: Browser;
  let page: Page;
  const failures: string[] = [];

  beforeAll(async () => {
    service = await startServiceProcess({ config: CONFIG });
    browser = await launchChromium([`--host-resolver-rules=MAP ${HOST} 127.0.0.1`]);
    page = await browser.newPage({ reducedMotion: "reduce" });
    page.on("pageerror", (error) => failures.push(String(error)));
    const { code } = await post("console_sign_in_codes");
    await page.goto(`http://${HOST}:${new URL(service.origin).port}/#/sign-in?code=${code}`);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  async function post(path: string): Promise<{ code: string }> {
    const headers = { authorization: `Bearer ${service.adminKey}` };
    const response = await fetch(`${service.baseUrl}/organization/${path}`, { method: "POST", headers });
    return (await response.json()) as { code: string };
  }

  test("answers a question and copies the answer", async () => {
    const message = page.getByRole("textbox", { name: "Message", exact: true });
    await message.waitFor();
    expect(await page.evaluate("isSecureContext")).toBe(false);
    await message.fill("A line to copy");
    await message.press("Enter");
    await page.getByRole("button", { name: "Copy answer" }).click();
    await message.focus();
    await page.keyboard.press("Control+V");
    await expect.poll(() => message.inputValue()).toBe("A line to copy");
    expect(failures).toEqual([]);
  });

  test("copies a new key from its dialog, which keeps the focus", async () => {
    await page.getByRole("link", { name: "Operate" }).click();
    await page.getByRole("link", { name: "Projects" }).click();
    await page.getByRole("link", { name: "Default project" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Laptop");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = (await page.getByTestId("secret").first().textContent())?.trim() ?? "";
    expect(key).toMatch(/^sk-/);
    await page.getByRole("button", { name: "Copy key" }).click();
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Copy key");
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("textbox", { name: "Search keys" }).focus();
    await page.keyboard.press("Control+V");
    await expect.poll(() => page.getByRole("textbox", { name: "Search keys" }).inputValue()).toBe(key);
    expect(failures).toEqual([]);
  });
});
