/** Conversations of people who sign in: on each of their devices, offline, and nobody else's. */

import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { axeViolations } from "../support/service/axe.ts";
import { hasChromium, launchChromium } from "../support/service/chromium.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

const PASSWORD = "correct horse battery";
const CONFIG = `
builtin_models: false
saved_chats: { max_size_per_chat: 0.1MB }
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;
/** For polls on a busy machine. */
const PATIENT = { timeout: 30_000 };

describe.runIf(hasChromium)("saved chats in the console", () => {
  let service: ServiceProcess;
  let browser: Browser;
  const complaints: string[] = [];

  beforeAll(async () => {
    service = await startServiceProcess({ config: CONFIG });
    browser = await launchChromium();
    const owner = await newPage();
    await owner.goto(`${service.origin}/#/sign-in?code=${(await administer("POST", "/console_sign_in_codes")).code}`);
    await owner.getByRole("link", { name: "Operate" }).click();
    await owner.getByRole("link", { name: "People" }).click();
    await owner.getByLabel("Your name").fill("First Owner");
    await owner.getByLabel("E-mail address").fill("owner@example.com");
    await owner.getByLabel("New password").fill(PASSWORD);
    await owner.getByRole("button", { name: "Become the owner" }).click();
    await owner.getByText("owner@example.com").first().waitFor();
    await owner.context().close();
    const { data: projects } = await administer("GET", "/projects");
    const invited = { role: "reader", projects: [{ id: projects[0].id, role: "member" }] };
    for (const name of ["ada", "bob"]) {
      const { token } = await administer("POST", "/invites", { ...invited, email: `${name}@example.com` });
      const accepted = await fetch(`${service.origin}/console/invite/accept`, {
        method: "POST",
        headers: { "content-type": "application/json", "sec-fetch-site": "same-origin" },
        body: JSON.stringify({ token, name, password: PASSWORD }),
      });
      expect(accepted.status).toBe(200);
    }
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function administer(method: string, path: string, body?: unknown): Promise<any> {
    const response = await service.fetch(`/v1/organization${path}`, {
      method,
      headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return response.json();
  }

  async function newPage(context?: BrowserContext): Promise<Page> {
    const viewport = { width: 1280, height: 800 };
    const page = await (context ?? (await browser.newContext({ viewport, reducedMotion: "reduce" }))).newPage();
    page.setDefaultTimeout(30_000);
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      const isExpected = /status of (401|404|409|413)|ERR_INTERNET_DISCONNECTED/.test(message.text());
      if (message.type() === "error" && !isExpected) complaints.push(message.text());
    });
    return page;
  }

  /** A page of a device of its own, on which a person is signed in. */
  async function device(name: "ada" | "bob" | "owner", page?: Page): Promise<Page> {
    const signedIn = page ?? (await newPage());
    await signedIn.goto(`${service.origin}/`);
    await signedIn.getByLabel("E-mail address").fill(`${name}@example.com`);
    await signedIn.getByRole("textbox", { name: "Password" }).fill(PASSWORD);
    await signedIn.getByRole("button", { name: "Sign in", exact: true }).click();
    await signedIn.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    return signedIn;
  }

  async function ask(page: Page, text: string): Promise<void> {
    await page.getByRole("textbox", { name: "Message", exact: true }).fill(text);
    await page.keyboard.press("Enter");
    await page.getByRole("log").getByText(text, { exact: true }).nth(1).waitFor();
  }

  const begin = async (page: Page) => {
    const button = page.getByRole("button", { name: "New conversation" });
    if (await button.isEnabled()) await button.click();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  };
  /** The list of conversations, a column that is open unless the page is narrow; what it shows is read again. */
  const openList = async (page: Page) => {
    await page.evaluate("dispatchEvent(new Event('online'))");
    const list = page.getByRole("complementary", { name: "Conversations" });
    await list.waitFor();
    return list;
  };
  const remove = async (page: Page, title: string) => {
    await page.getByRole("button", { name: `Options of ${title}` }).click();
    await page.getByRole("menuitem", { name: "Delete" }).click();
  };
  /** Titles and revisions on the server, as the page's session reads them. */
  const saved = (page: Page): Promise<Record<string, number>> =>
    page.evaluate(async () => {
      const response = await fetch("v1/saved_chats");
      const { data } = (await response.json()) as { data: { title: string; revision: number }[] };
      return Object.fromEntries(data.map(({ title, revision }) => [title, revision]));
    });
  const stored = (page: Page): Promise<string[]> =>
    page.evaluate("Object.keys(localStorage).filter((key) => key.includes('conversation/'))");
  const log = (page: Page) => page.getByRole("log");
  const count = (page: Page, text: string) => log(page).getByText(text, { exact: true }).count();

  test("shows a conversation on another device of the person, and on none of others", async () => {
    const laptop = await device("ada");
    await ask(laptop, "Badgers dig");
    await expect.poll(() => saved(laptop), PATIENT).toMatchObject({ "Badgers dig": expect.any(Number) });
    const phone = await device("ada");
    const list = await openList(phone);
    await list.getByRole("button", { name: /^Badgers dig/ }).waitFor();
    expect(await axeViolations(phone)).toEqual([]);
    await list.getByRole("button", { name: /^Badgers dig/ }).click();
    await log(phone).getByText("Badgers dig").nth(1).waitFor();
    // What the phone adds arrives on the laptop, which has the conversation open.
    const before = (await saved(phone))["Badgers dig"] ?? 0;
    await ask(phone, "They do at night");
    await expect.poll(async () => (await saved(phone))["Badgers dig"], PATIENT).toBeGreaterThan(before);
    await openList(laptop);
    await expect.poll(() => count(laptop, "They do at night"), PATIENT).toBe(2);

    for (const name of ["bob", "owner"] as const) {
      const other = await device(name);
      const theirs = await openList(other);
      await theirs.getByText("Your conversations appear here.").waitFor();
      expect(await saved(other)).toEqual({});
      await other.context().close();
    }
    await laptop.context().close();
    await phone.context().close();
  });

  test("keeps what two devices add at the same time, as branches", async () => {
    const laptop = await device("ada");
    await begin(laptop);
    await ask(laptop, "Shared question");
    await expect.poll(() => saved(laptop), PATIENT).toHaveProperty("Shared question");
    const phone = await device("ada");
    await (await openList(phone)).getByRole("button", { name: /^Shared question/ }).click();
    await log(phone).getByText("Shared question").nth(1).waitFor();
    await phone.context().setOffline(true);
    await laptop.getByRole("button", { name: "Edit message" }).first().click();
    await laptop.getByLabel("Edited message").fill("Edited on the laptop");
    await log(laptop).getByRole("button", { name: "Send" }).click();
    await log(laptop).getByText("2/2").waitFor();
    await expect.poll(async () => (await saved(laptop))["Shared question"] ?? 0, PATIENT).toBeGreaterThan(1);
    // Offline, a question is stored with its failure, and goes to the server later.
    await phone.getByRole("textbox", { name: "Message", exact: true }).fill("Asked on the phone");
    await phone.keyboard.press("Enter");
    await phone.getByText(/connection to Parlance was lost/).waitFor();
    await phone.context().setOffline(false);
    await expect.poll(() => log(phone).getByText("1/2").count(), PATIENT).toBe(1);
    expect(await count(phone, "Asked on the phone")).toBe(1);
    await laptop.reload();
    await laptop.getByRole("button", { name: "Previous branch" }).click();
    await expect.poll(() => count(laptop, "Asked on the phone"), PATIENT).toBe(1);
    await laptop.context().close();
    await phone.context().close();
  });

  test("shows the same in two tabs, and removes conversations from the browser at the sign-out", async () => {
    const page = await device("bob");
    await begin(page);
    await ask(page, "A question of Bob");
    const tab = await newPage(page.context());
    await tab.goto(`${service.origin}/#/chat`);
    await log(tab).getByText("A question of Bob").nth(1).waitFor();
    // Two tabs of a browser show the same conversation.
    await ask(tab, "From the other tab");
    await expect.poll(() => count(page, "From the other tab"), PATIENT).toBe(2);
    await tab.close();
    await expect.poll(() => saved(page), PATIENT).toHaveProperty("A question of Bob");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in with a key" }).waitFor();
    await expect.poll(() => stored(page), PATIENT).toEqual([]);
    await device("ada", page);
    expect(Object.keys(await saved(page))).not.toContain("A question of Bob");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in with a key" }).waitFor();
    await device("bob", page);
    await (await openList(page)).getByRole("button", { name: /^A question of Bob/ }).click();
    await expect.poll(() => count(page, "From the other tab"), PATIENT).toBe(2);
    await page.context().close();
  });

  test("keeps conversations in their project when another tab chooses another one", async () => {
    const { data: people } = await administer("GET", "/users");
    const bob = people.find(({ email }: { email: string }) => email === "bob@example.com");
    const { id: project } = await administer("POST", "/projects", { name: "Side project" });
    await administer("POST", `/projects/${project}/users`, { user_id: bob.id, role: "member" });
    const page = await device("bob");
    await begin(page);
    await ask(page, "Of the first project");
    await expect.poll(() => saved(page), PATIENT).toHaveProperty("Of the first project");
    const copies = await stored(page);
    // Chosen without the page, as in another tab.
    const chosen = await page.evaluate(async (id) => {
      const headers = { "content-type": "application/json" };
      return (
        await fetch("console/session/project", { method: "POST", headers, body: JSON.stringify({ project: id }) })
      ).ok;
    }, project);
    expect(chosen).toBe(true);
    await page.evaluate("dispatchEvent(new Event('online'))");
    await expect.poll(() => page.getByLabel("Project").inputValue(), PATIENT).toBe(project);
    await (await openList(page)).getByText("Your conversations appear here.").waitFor();
    expect(await saved(page)).toEqual({});
    expect(await stored(page)).toEqual(expect.arrayContaining(copies));
    await page.keyboard.press("Escape");
    await page.getByLabel("Project").selectOption({ label: "Default project" });
    await (await openList(page)).getByRole("button", { name: /^Of the first project/ }).click();
    await log(page).getByText("Of the first project").nth(1).waitFor();
    await page.context().close();
  });

  test("moves conversations of the browser to the account, and undoes a deletion", async () => {
    const page = await newPage();
    await page.goto(`${service.origin}/`);
    const turn = { id: "t1", text: "From before", images: [], answers: [] };
    const conversation = { id: "before", changedAt: Date.now(), models: ["echo"], parameters: {}, turns: [turn] };
    await page.evaluate(
      (text) => localStorage.setItem("parlance-conversation/before", text),
      JSON.stringify(conversation),
    );
    await device("bob", page);
    const list = await openList(page);
    await list.getByRole("button", { name: "Move to your account" }).click();
    await expect.poll(() => saved(page), PATIENT).toMatchObject({ "From before": 1 });
    expect(await page.evaluate("localStorage.getItem('parlance-conversation/before')")).toBeNull();
    await remove(page, "From before");
    await list.getByRole("button", { name: /^From before/ }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Undo" }).click();
    await list.getByRole("button", { name: /^From before/ }).waitFor();
    await remove(page, "From before");
    await expect.poll(() => saved(page), PATIENT).not.toHaveProperty("From before");
    await list.getByRole("button", { name: "Delete all" }).click();
    await page
      .getByRole("dialog", { name: "Delete all conversations?" })
      .getByRole("button", { name: "Delete all" })
      .click();
    await expect.poll(() => saved(page), PATIENT).toEqual({});
    await list.getByText("Your conversations appear here.").waitFor();
    await page.context().close();
  });

  test("says which conversation is too large for the account, and asks before a sign-out loses it", async () => {
    const page = await newPage();
    await page.goto(`${service.origin}/`);
    const turn = { id: "t1", text: `Large ${"text ".repeat(22_000)}`, images: [], answers: [] };
    const conversation = { id: "large", changedAt: Date.now(), models: ["echo"], parameters: {}, turns: [turn] };
    await page.evaluate(
      (text) => localStorage.setItem("parlance-conversation/large", text),
      JSON.stringify(conversation),
    );
    await device("bob", page);
    const list = await openList(page);
    await list.getByRole("button", { name: "Move to your account" }).click();
    await page.getByText("Some conversations are too large").waitFor();
    await list.getByRole("button", { name: /^Large/ }).click();
    await page.getByText("This conversation is only in this browser").waitFor();
    await page.getByText(/the limit is 100000/).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText(/1 conversation has changes/).waitFor();
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Sign out anyway" }).click();
    await page.getByRole("button", { name: "Sign in with a key" }).waitFor();
    await expect.poll(() => stored(page), PATIENT).toEqual([]);
    await page.context().close();
  });

  test("undoes the change of a member's role", async () => {
    const page = await device("owner");
    await page.goto(`${service.origin}/#/projects`);
    await page.getByRole("link", { name: "Default project" }).click();
    await page.getByRole("tab", { name: "Members" }).click();
    const role = page.getByLabel("Role of bob");
    await role.selectOption("viewer");
    await page.getByText("bob has the role viewer").waitFor();
    await expect.poll(() => role.inputValue(), PATIENT).toBe("viewer");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => role.inputValue(), PATIENT).toBe("member");
    await page.context().close();
  });

  test("violates no policy and throws nothing", () => {
    expect(complaints).toEqual([]);
  });
});
