/** The navigation of the console: three places, settings apart, and the active entry in sight. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{ text: Hello }] }] }
`;
const PLACES = {
  Use: ["Chat", "Talk", "Images", "Transcription", "Speech"],
  Build: ["Prompts", "Evals", "Vector stores", "Files", "Batches", "MCP servers"],
  Operate: ["Overview", "Requests", "Usage", "Models", "People", "Projects", "Budgets", "Audit log"],
  Settings: ["Organization", "Connections", "Webhooks", "Configuration"],
};
const PASSWORD = "correct horse battery staple";

describe.runIf(hasChromium)("the navigation of the console", () => {
  let session: ConsoleSession;

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  test("shows the pages of one place, each of which is in sight on a screen of 900 pixels", async () => {
    const { page } = session;
    await page.setViewportSize({ width: 1280, height: 900 });
    const navigation = page.getByRole("navigation", { name: "Pages" });
    for (const [place, names] of Object.entries(PLACES)) {
      await navigation.getByRole("link", { name: place, exact: true }).click();
      for (const name of names) {
        const entry = navigation.getByRole("link", { name, exact: true });
        await entry.click();
        await expect.poll(() => entry.getAttribute("aria-current")).toBe("page");
        const { y, height } = (await entry.boundingBox()) ?? { y: -1, height: 0 };
        expect([name, y >= 0 && y + height <= 900]).toEqual([name, true]);
      }
    }
    // Another place leads back to the page that was open there.
    await navigation.getByRole("link", { name: "Build", exact: true }).click();
    await page.getByRole("heading", { name: "MCP servers", level: 1 }).waitFor();
    await session.expectAccessible();
  });

  test("scrolls the active entry into sight on a low screen", async () => {
    const { page, open } = session;
    await page.setViewportSize({ width: 1280, height: 420 });
    await open("/audit");
    const entry = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Audit log" });
    await expect.poll(async () => ((await entry.boundingBox())?.y ?? 999) < 420).toBe(true);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("tells a person without a project whom to ask, and leads the sign-in with the password", async () => {
    const { browser, service, admin } = session;
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce" });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    for (const [email, role, name] of [
      ["owner@example.com", "owner", "Olive Owner"],
      ["reader@example.com", "reader", "Rita Reader"],
    ]) {
      const { token } = await admin("POST", "/invites", { email, role, projects: [] });
      await page.goto(`${service.origin}/#/invite?token=${token}`);
      await page.getByLabel("Your name").fill(name as string);
      await page.getByLabel("New password").fill(PASSWORD);
      await page.getByRole("button", { name: "Accept with a password" }).click();
      await page.getByRole("button", { name: "Sign out" }).waitFor();
      if (role === "owner") {
        await page.getByRole("button", { name: "Sign out" }).click();
        await page.getByLabel("E-mail address").waitFor();
      }
    }
    await page.goto(`${service.origin}/#/chat`);
    await page.getByText("You are in no project yet").waitFor();
    await page.getByText("Olive Owner (owner@example.com)").waitFor();
    await context.close();
  });
});
