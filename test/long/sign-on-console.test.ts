/** Signing in to the console in a real Chromium: from an invite to the first chat, and what each role sees. */

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeViolations } from "../support/service/axe.ts";
import { hasChromium, launchChromium } from "../support/service/chromium.ts";
import { type SignOnService, startSignOnService } from "../support/service/sign-on-service.ts";

const PASSWORD = "correct horse battery";
const MAX_SIGN_IN_BYTES = 120_000;
const MAX_CHAT_BYTES = 250_000;
/** The button of the provider in each language of the console. */
const CONTINUE: Readonly<Record<string, string>> = {
  en: "Continue with Test provider",
  de: "Weiter mit Test provider",
  es: "Continuar con Test provider",
  fr: "Continuer avec Test provider",
  ja: "Test provider で続行",
  pt: "Continuar com Test provider",
  zh: "使用 Test provider 继续",
};

/** Compressed bytes of the page and its files, without answers of the API. */
function loadedBytes(page: Page): Promise<number> {
  return page.evaluate(() => {
    interface Loaded {
      encodedBodySize?: number;
      name: string;
    }
    const { performance } = globalThis as unknown as { performance: { getEntries(): Loaded[] } };
    const files = performance.getEntries().filter(({ name }) => /\/$|\/#|\/assets\//.test(name));
    return files.reduce((sum, { encodedBodySize = 0 }) => sum + encodedBodySize, 0);
  });
}

describe.runIf(hasChromium)("sign-on in the console", () => {
  let idp: SignOnService;
  let browser: Browser;
  let owner: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    idp = await startSignOnService({ signOn: "  renew_after_seconds: 1" });
    const { people } = idp.provider;
    people.set("grace", { email: "grace@example.com", name: "Grace Hopper", groups: [] });
    people.set("vera", { email: "vera@example.com", name: "Vera Rubin", groups: ["auditors"] });
    browser = await launchChromium();
    owner = await newPage();
    const { code } = await idp.admin("POST", "/console_sign_in_codes");
    await owner.goto(`${idp.service.origin}/#/sign-in?code=${code}`);
    await owner.getByRole("link", { name: "Operate" }).click();
    await owner.getByRole("link", { name: "People" }).click();
    await owner.getByLabel("Your name").fill("First Owner");
    await owner.getByLabel("E-mail address").fill("owner@example.com");
    await owner.getByLabel("New password").fill(PASSWORD);
    await owner.getByRole("button", { name: "Become the owner" }).click();
    await owner.getByText("owner@example.com").first().waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await idp?.[Symbol.asyncDispose]();
  });

  /** A page with cookies and storage of its own. */
  async function newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 900 },
      reducedMotion: "reduce",
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      const isExpected = /status of (400|401|403|404)/.test(message.text());
      if (message.type() === "error" && !isExpected) complaints.push(`${message.text()} (${message.location().url})`);
    });
    return page;
  }

  async function invite(email: string): Promise<string> {
    await owner.goto(`${idp.service.origin}/#/people`);
    await owner.getByRole("button", { name: "Invite", exact: true }).click();
    await owner.getByLabel("E-mail address").fill(email);
    await owner.getByLabel("Project", { exact: true }).selectOption({ label: "Default project" });
    await owner.getByRole("button", { name: "Create invite" }).click();
    const link = (await owner.getByTestId("link").textContent())?.trim() ?? "";
    await owner.getByRole("button", { name: "Done" }).click();
    return link;
  }

  async function chat(page: Page, text: string): Promise<void> {
    await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText(text).nth(1).waitFor();
  }

  test("leads an invited person over the provider to the first chat in two clicks", async () => {
    const link = await invite("grace@example.com");
    const page = await newPage();
    await page.goto(link);
    await page.getByText("grace@example.com").waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Continue with Test provider" }).click();
    await page.getByRole("link", { name: "Sign in as Grace Hopper" }).click();
    await chat(page, "Hello from an invite");
    await page.getByRole("link", { name: "Operate" }).click();
    await page.getByRole("link", { name: "Requests" }).waitFor();
    for (const name of ["People", "Organization", "Audit log", "Settings"]) {
      expect(await page.getByRole("link", { name }).count()).toBe(0);
    }
    await page.getByRole("link", { name: "Use", exact: true }).click();

    await page.getByRole("link", { name: "Keys and access" }).click();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("My program");
    await page.getByRole("button", { name: "Create key" }).click();
    const key = (await page.getByTestId("secret").first().textContent())?.trim() ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("cell", { name: "My program" }).waitFor();
    const models = await fetch(`${idp.service.origin}/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(models.status).toBe(200);
    await page.getByRole("row", { name: "My program" }).getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("button", { name: "Rotate key" }).click();
    const next = (await page.getByTestId("secret").first().textContent())?.trim() ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    for (const each of [key, next]) {
      const answer = await fetch(`${idp.service.origin}/v1/models`, { headers: { authorization: `Bearer ${each}` } });
      expect(answer.status).toBe(200);
    }
    await page.getByRole("tab", { name: "What I may do" }).click();
    await page.getByText("project.own_keys.write").waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });

  test("accepts an invite with a password, and signs in with it again", async () => {
    const link = await invite("hedy@example.com");
    const page = await newPage();
    await page.goto(link);
    await page.getByLabel("Your name").fill("Hedy Lamarr");
    await page.getByLabel("New password").fill("short");
    await page.getByRole("button", { name: "Accept with a password" }).click();
    await page.getByText("several words are easy to remember").waitFor();
    await page.getByLabel("New password").fill(PASSWORD);
    await page.getByRole("button", { name: "Accept with a password" }).click();
    await chat(page, "Hello with a password");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in with a password" }).click();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByLabel("E-mail address").fill("hedy@example.com");
    await page.getByRole("textbox", { name: "Password" }).fill("a wrong password");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByText("The address or the password is wrong.").waitFor();
    await page.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    await page.goto(link);
    await page.getByText("You are signed in already").waitFor();
  });

  test("shows an owner who may do what and why, and lets a viewer change nothing", async () => {
    const page = await newPage();
    await page.goto(`${idp.service.origin}/#/projects`);
    await page.getByRole("link", { name: "Continue with Test provider" }).click();
    await page.getByRole("link", { name: "Sign in as Vera Rubin" }).click();
    // It continues at the page that was opened.
    await page.getByRole("link", { name: "Default project" }).click();
    await page.getByText("idp/auditors").waitFor();
    expect(await page.getByRole("button", { name: /Add|Remove|Rename|Archive/ }).count()).toBe(0);
    expect(await page.getByRole("tab", { name: /Keys|Limits|Moderation/ }).count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);

    await owner.goto(`${idp.service.origin}/#/people`);
    await owner.reload();
    await owner.getByRole("link", { name: "Vera Rubin" }).click();
    await owner.getByText("from the group").first().waitFor();
    const row = await owner.getByRole("row", { name: /Default project/ }).textContent();
    expect(row).toMatch(/Role viewer from the group idp\/auditors/);
    expect(await axeViolations(owner)).toEqual([]);

    await owner.getByRole("button", { name: "Disable" }).click();
    await owner.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await page.getByRole("link", { name: "Continue with Test provider" }).waitFor();
  });

  test("makes roles and groups, and says that a role comes from a group", async () => {
    const { origin } = idp.service;
    await owner.goto(`${origin}/#/people?tab=roles`);
    await owner.getByRole("button", { name: "New role" }).click();
    await owner.getByRole("dialog").getByLabel("Name").fill("Auditor");
    await owner.getByLabel("organization.audit_logs.read").check();
    expect(await axeViolations(owner)).toEqual([]);
    await owner.getByRole("button", { name: "Create role" }).click();
    await owner.getByRole("row", { name: "Auditor" }).getByRole("button", { name: "Edit" }).click();
    await owner.getByLabel("Description").fill("Reads the audit log");
    await owner.getByRole("button", { name: "Save" }).click();
    await owner.getByText("Reads the audit log").waitFor();

    await owner.getByRole("tab", { name: "Groups" }).click();
    await owner.getByRole("button", { name: "New group" }).click();
    await owner.getByRole("dialog").getByLabel("Name").fill("Reviewers");
    await owner.getByRole("button", { name: "Create group" }).click();
    await owner.getByRole("link", { name: "Reviewers" }).click();
    await owner.getByLabel("E-mail address of a user").fill("nobody@example.com");
    await owner.getByRole("button", { name: "Add", exact: true }).click();
    await owner.getByText("No user has the address nobody@example.com.").waitFor();
    await owner.getByLabel("E-mail address of a user").fill("owner@example.com");
    await owner.getByRole("button", { name: "Add", exact: true }).click();
    await owner.getByRole("link", { name: "First Owner" }).waitFor();
    await owner.getByLabel("Role to assign").selectOption({ label: "Auditor" });
    await owner.getByRole("button", { name: "Assign" }).click();
    await owner.getByRole("button", { name: "Take away" }).waitFor();
    expect(await axeViolations(owner)).toEqual([]);

    await owner.goto(`${origin}/#/projects`);
    await owner.getByRole("link", { name: "Default project" }).click();
    await owner.getByRole("tab", { name: "Members" }).click();
    await owner.getByLabel("Group to add").selectOption({ label: "Reviewers" });
    await owner.getByLabel("Role of the group", { exact: true }).selectOption("viewer");
    await owner.getByRole("button", { name: "Add group" }).click();
    const roleOfGroup = owner.getByLabel("Role of the group Reviewers");
    const chooseRole = async (role: string) => {
      await roleOfGroup.selectOption(role);
      // It shows the previous role until the change is stored.
      await expect.poll(() => roleOfGroup.inputValue()).toBe(role);
    };
    await chooseRole("member");
    await owner.getByRole("button", { name: "New role" }).click();
    await owner.getByRole("dialog").getByLabel("Name").fill("Key keeper");
    expect(await owner.getByLabel("organization.audit_logs.read").count()).toBe(0);
    await owner.getByLabel("project.keys.write").check();
    await owner.getByRole("button", { name: "Create role" }).click();
    await chooseRole("Key keeper");
    await chooseRole("member");
    expect(await axeViolations(owner)).toEqual([]);

    await owner.goto(`${origin}/#/people`);
    await owner.getByRole("link", { name: "First Owner" }).click();
    await owner.getByText("Role Auditor from the group Reviewers").waitFor();
    await owner.getByText("Role member from the group Reviewers").waitFor();
    expect(await axeViolations(owner)).toEqual([]);
    await owner.goto(`${origin}/#/people?tab=groups`);
    await owner.getByRole("link", { name: "Reviewers" }).click();
    await owner.getByRole("button", { name: "Delete" }).click();
    await owner.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await owner.getByText("idp/auditors").waitFor();
    await expect.poll(() => owner.getByText("Reviewers").count()).toBe(0);
  });

  test("leads back to the sign-in page from a failure, and signs out at the provider", async () => {
    const page = await newPage();
    await page.goto(`${idp.service.origin}/sign-on/idp/callback?code=stolen&state=unknown`);
    await page.getByRole("heading", { name: "This sign-in is no longer open" }).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Go to the sign-in page" }).click();
    await page.getByRole("link", { name: "Continue with Test provider" }).click();
    await page.getByRole("link", { name: "Sign in as Grace Hopper" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("link", { name: "Continue with Test provider" }).waitFor();
    expect(page.url()).toMatch(new RegExp(`^${idp.service.origin}/`));
  });

  test.each(Object.entries(CONTINUE))(
    "loads the sign-in page within the limit, in %s, accessible in both themes",
    async (locale, name) => {
      for (const colorScheme of ["light", "dark"] as const) {
        const page = await newPage({ locale, colorScheme });
        await page.goto(`${idp.service.origin}/`);
        await page.getByRole("link", { name }).waitFor();
        await page.waitForLoadState("networkidle");
        expect(await loadedBytes(page)).toBeGreaterThan(50_000);
        expect(await loadedBytes(page)).toBeLessThan(MAX_SIGN_IN_BYTES);
        expect(await axeViolations(page)).toEqual([]);
        await page.context().close();
      }
    },
  );

  test("chooses a language on the sign-in page, which the console then has", async () => {
    const page = await newPage();
    await page.goto(`${idp.service.origin}/#/images`);
    await page.getByRole("combobox", { name: "Language" }).selectOption("de");
    await page.getByRole("link", { name: CONTINUE.de ?? "" }).click();
    await page.getByRole("link", { name: "Sign in as Grace Hopper" }).click();
    await page.getByRole("heading", { name: "Bilder", exact: true }).waitFor();
    await page.context().close();
  });

  test("signs in by itself when another tab has, and shows the chosen theme before that", async () => {
    const page = await newPage();
    await page.goto(`${idp.service.origin}/#/images`);
    await page.getByRole("link", { name: CONTINUE.en ?? "" }).waitFor();
    await page.evaluate("localStorage.setItem('mantine-color-scheme-value', 'dark')");
    await page.reload();
    await page.getByRole("link", { name: CONTINUE.en ?? "" }).waitFor();
    expect(await page.evaluate("getComputedStyle(document.querySelector('main')).backgroundColor")).toBe(
      "rgb(18, 21, 20)",
    );
    const other = await page.context().newPage();
    await other.goto(`${idp.service.origin}/`);
    await other.getByRole("link", { name: CONTINUE.en ?? "" }).click();
    await other.getByRole("link", { name: "Sign in as Grace Hopper" }).click();
    await page.getByRole("heading", { name: "Images", exact: true }).waitFor();
    await page.context().close();
  });

  test("loads the chat after a sign-in within the limit, without complaints of the browser", async () => {
    const page = await newPage();
    const { code } = await idp.admin("POST", "/console_sign_in_codes");
    await page.goto(`${idp.service.origin}/#/sign-in?code=${code}`);
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    expect(await loadedBytes(page)).toBeLessThan(MAX_CHAT_BYTES);
    expect(complaints).toEqual([]);
  });
});
