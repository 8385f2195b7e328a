/** The console's chat as a place to work: the list of conversations, shared copies, and what can be done with answers. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const PASSWORD = "correct horse battery";
const CONFIG = `
builtin_models: false
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
  - id: counter
    task: chat
    deployments:
      - engine: scripted
        replies:
          - { match: "/Continue exactly where/", text: ", four" }
          - { text: "One, two, three" }
  - { id: voice, task: speech, deployments: [{ engine: scripted, speech: { voices: [low] } }] }
  - { id: listener, task: transcription, deployments: [{ engine: scripted, replies: [{ text: "What was said." }] }] }
`;
const PATIENT = { timeout: 20_000 };
const ABOUT = ["About badgers", "About herons", "About otters"];

describe.runIf(hasChromium)("the chat as a place to work", () => {
  let session: ConsoleSession;
  let page: Page;
  let project: string;

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    ({ page } = session);
    await page.goto(await session.signInLink());
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    const owner = { email: "owner@example.com", name: "Olga Owner", password: PASSWORD };
    const made = await page.evaluate(async (body) => {
      const headers = { "content-type": "application/json" };
      return (await fetch("console/first_owner", { method: "POST", headers, body: JSON.stringify(body) })).status;
    }, owner);
    expect(made).toBe(200);
    await page.reload();
    await page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
    const { data } = await session.admin("GET", "/projects");
    project = data[0].id;
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const log = () => page.getByRole("log");
  const list = () => page.getByRole("complementary", { name: "Conversations" });
  const titles = () => list().locator(".conversation-row .mantine-NavLink-label").allTextContents();
  const option = async (title: string, name: string) => {
    await list()
      .getByRole("button", { name: `Options of ${title}` })
      .click();
    await page.getByRole("menuitem", { name, exact: true }).click();
  };
  const inBothThemes = async () => {
    await page.mouse.move(0, 0);
    await page.getByRole("tooltip").waitFor({ state: "hidden" });
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await session.expectAccessible();
    }
  };
  async function colleague(email: string, projects: string[]): Promise<Page> {
    const roles = projects.map((id) => ({ id, role: "member" }));
    const { token } = await session.admin("POST", "/invites", { email, role: "reader", projects: roles });
    const context = await session.browser.newContext();
    const tab = await context.newPage();
    await tab.goto(session.service.origin);
    const accepted = await tab.evaluate(
      async (body) => {
        const headers = { "content-type": "application/json" };
        return (await fetch("console/invite/accept", { method: "POST", headers, body: JSON.stringify(body) })).status;
      },
      { token, name: email, password: PASSWORD },
    );
    expect(accepted).toBe(200);
    return tab;
  }

  test("finds, renames, pins and files conversations, which other devices show the same", async () => {
    for (const text of ABOUT) {
      await list().getByRole("button", { name: "New conversation" }).click();
      await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
      await session.ask(text);
    }
    // The service's times are in seconds, within which the order is that of the writes.
    await expect.poll(async () => (await titles()).toSorted(), PATIENT).toEqual([...ABOUT]);
    await list().getByRole("textbox", { name: "Search conversations" }).fill("OTT");
    await expect.poll(titles, PATIENT).toEqual(["About otters"]);
    await list().getByRole("textbox", { name: "Search conversations" }).fill("");
    await option("About badgers", "Pin");
    await expect.poll(async () => (await titles())[0], PATIENT).toBe("About badgers");
    await option("About otters", "New folder");
    await page.getByRole("textbox", { name: "Name of the folder" }).fill("Rivers");
    await page.keyboard.press("Enter");
    await list().getByRole("button", { name: "Rivers", expanded: true }).waitFor();
    await option("About herons", "Rename");
    await page.getByRole("textbox", { name: "Name of the conversation" }).fill("Gray birds");
    await page.keyboard.press("Enter");
    await expect.poll(titles, PATIENT).toEqual(["About badgers", "About otters", "Gray birds"]);
    await option("Gray birds", "Rivers");
    await list().getByRole("button", { name: "Today" }).waitFor({ state: "detached" });
    await inBothThemes();

    const context = await session.browser.newContext({ viewport: { width: 1280, height: 800 } });
    const other = await context.newPage();
    await other.goto(session.service.origin);
    await other.evaluate(
      async (body) => {
        const headers = { "content-type": "application/json" };
        await fetch("console/session", { method: "POST", headers, body: JSON.stringify(body) });
      },
      { email: "owner@example.com", password: PASSWORD },
    );
    await other.goto(`${session.service.origin}/#/chat`);
    await other.reload();
    const there = other.getByRole("complementary", { name: "Conversations" });
    await there.getByRole("button", { name: "Rivers", expanded: true }).waitFor();
    await expect.poll(() => there.locator(".mantine-NavLink-label").count(), PATIENT).toBe(3);
    expect((await there.locator(".mantine-NavLink-label").allTextContents()).toSorted()).toEqual([
      ...["About badgers", "About otters", "Gray birds"],
    ]);
    await context.close();
    await option("Gray birds", "Take out of the folder");
    await list().getByRole("button", { name: "Today" }).waitFor();
  });

  test("shares a copy with the members of the project until the sharing ends", async () => {
    await list().getByRole("button", { name: "New conversation" }).click();
    await session.withParameters(() => page.getByLabel("System prompt").fill("A secret instruction."));
    await session.ask("What I show");
    await page.getByRole("button", { name: "Share", exact: true }).click();
    await page.getByRole("button", { name: "Create link" }).click();
    const link = await page.getByRole("textbox", { name: "Link" }).inputValue();
    await inBothThemes();
    await page.keyboard.press("Escape");
    await session.ask("What I write later");

    const reader = await colleague("reader@example.com", [project]);
    await reader.goto(link);
    await reader.getByRole("heading", { name: "What I show" }).waitFor();
    await reader.getByText("Olga Owner shares this copy with the project").waitFor();
    expect(await reader.getByText("What I write later").count()).toBe(0);
    const read = await reader.evaluate(async (id) => (await fetch(`v1/shared_chats/${id}`)).text(), shareOf(link));
    expect(read).not.toContain("secret instruction");
    await reader.getByRole("button", { name: "Continue in your chat" }).click();
    await reader.getByRole("log").getByText("What I show", { exact: true }).first().waitFor();

    const { id: elsewhere } = await session.admin("POST", "/projects", { name: "Elsewhere" });
    const stranger = await colleague("stranger@example.com", [elsewhere]);
    await stranger.goto(link);
    await stranger.getByText("This conversation belongs to a project that you are not in").waitFor();
    const both = await colleague("both@example.com", [elsewhere, project]);
    await both.goto(link);
    await both
      .getByRole("heading", { name: "What I show" })
      .or(both.getByRole("button", { name: /^Change to/ }))
      .waitFor();
    if (await both.getByRole("button", { name: /^Change to/ }).isVisible()) {
      await both.getByRole("button", { name: /^Change to/ }).click();
    }
    await both.getByRole("heading", { name: "What I show" }).waitFor();

    await page.getByRole("button", { name: "Share", exact: true }).click();
    await page.getByRole("button", { name: "Stop sharing" }).click();
    await page.getByRole("button", { name: "Create link" }).waitFor();
    await page.keyboard.press("Escape");
    await reader.goto(link);
    await reader.getByText(/has no shared chat/).waitFor();
    for (const each of [reader, stranger, both]) await each.context().close();
  });

  test("continues, edits, regenerates and reads an answer, with the keyboard alone", async () => {
    await session.open("/chat");
    await list().getByRole("button", { name: "New conversation" }).click();
    await page.getByRole("button", { name: /^Model: / }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Models" }).fill("counter");
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "Message", exact: true }).focus();
    await page.keyboard.type("Count");
    await page.keyboard.press("Enter");
    await log().getByText("One, two, three", { exact: true }).waitFor();
    const press = async (name: string) => {
      await log().getByRole("button", { name }).last().focus();
      await page.keyboard.press("Enter");
    };
    await press("Continue the answer");
    await log().getByText("One, two, three, four", { exact: true }).waitFor();
    await press("Edit answer");
    await page.keyboard.press("End");
    await page.keyboard.type(", five");
    await page.getByRole("button", { name: "Save as a branch" }).focus();
    await page.keyboard.press("Enter");
    await log().getByText("One, two, three, four, five", { exact: true }).waitFor();
    await log().getByText("2/2").waitFor();
    // The model takes the edited answer for its own.
    const sent = page.waitForRequest(`${session.service.origin}/v1/chat/completions`);
    await session.ask("And then?");
    expect((await sent).postDataJSON().messages[1]).toEqual({
      role: "assistant",
      content: "One, two, three, four, five",
    });
    await press("Regenerate");
    await log().getByText("2/2").nth(1).waitFor();
    await page.getByRole("button", { name: "Send", exact: true }).waitFor();
    const spoken = page.waitForRequest(`${session.service.origin}/v1/audio/speech`);
    await press("Read aloud");
    expect((await spoken).postDataJSON()).toMatchObject({ model: "voice", voice: "low", input: "One, two, three" });
    await inBothThemes();
  });

  test("dictates a question", async () => {
    await page.getByRole("button", { name: "Dictate" }).click();
    // The microphone takes real time: a recording without a sample is refused.
    await page.waitForTimeout(1500);
    await page.getByRole("button", { name: "Stop dictating" }).click();
    await expect
      .poll(() => page.getByRole("textbox", { name: "Message", exact: true }).inputValue(), PATIENT)
      .toBe("What was said.");
    await page.getByRole("textbox", { name: "Message", exact: true }).fill("");
  });

  test("opens a prompt by a slash", async () => {
    await page.evaluate(async () => {
      const content = { messages: [{ role: "system", content: "Answer in rhymes." }] };
      const headers = { "content-type": "application/json" };
      await fetch("v1/prompts", { method: "POST", headers, body: JSON.stringify({ name: "Rhymes", content }) });
    });
    await page.getByRole("textbox", { name: "Message", exact: true }).pressSequentially("/rhy");
    await page.getByRole("option", { name: "Rhymes" }).waitFor();
    await inBothThemes();
    await page.getByRole("textbox", { name: "Message", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Parameters (1 changed)" }).waitFor();
    expect(await page.getByRole("textbox", { name: "Message", exact: true }).inputValue()).toBe("");
  });

  test("fits a phone, where the list is a drawer", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("button", { name: "Conversations", exact: true }).click();
    const drawer = page.getByRole("dialog", { name: "Conversations" });
    await drawer.getByRole("button", { name: "About otters", exact: true }).waitFor();
    await inBothThemes();
    await drawer.getByRole("button", { name: "About otters", exact: true }).click();
    await drawer.waitFor({ state: "detached" });
    await log().getByText("About otters", { exact: true }).first().waitFor();
    await inBothThemes();
    expect(await page.evaluate<number>("document.documentElement.scrollWidth")).toBe(390);
    await page.setViewportSize({ width: 1280, height: 800 });
  });

  test("leaves no error in the browser's console", () => {
    expect(session.complaints).toEqual([]);
  });
});

function shareOf(link: string): string {
  return new URL(link.replace("/#/", "/")).searchParams.get("id") ?? "";
}
