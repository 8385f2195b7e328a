/** The commonest tasks of the console with the keyboard alone: each control is reached by Tab, and used by keys. */

import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{ text: Hello from the parrot. }] }] }
  - { id: raven, task: chat, deployments: [{ engine: scripted, replies: [{ text: Hello from the raven. }] }] }
`;
/** More stops than any page has. */
const MAX_TABS = 120;

describe.runIf(hasChromium)("the console with the keyboard alone", () => {
  let session: ConsoleSession;
  let page: Page;

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    ({ page } = session);
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  /** Moves the focus by Tab until the control has it. */
  async function reach(target: Locator): Promise<void> {
    await target.first().waitFor();
    const handle = await target.first().elementHandle();
    for (let count = 0; count < MAX_TABS; count += 1) {
      if (
        await page.evaluate(
          (element) => (globalThis as unknown as FocusOwner).document.activeElement === element,
          handle,
        )
      )
        return;
      await page.keyboard.press("Tab");
    }
    throw new Error(`${MAX_TABS} tabs do not reach ${target}.`);
  }

  const button = (name: string | RegExp, within: Page | Locator = page) =>
    within.getByRole("button", typeof name === "string" ? { name, exact: true } : { name });
  const press = async (target: Locator) => {
    await reach(target);
    await page.keyboard.press("Enter");
  };
  const type = async (target: Locator, text: string) => {
    await reach(target);
    await page.keyboard.type(text);
  };
  const dialog = () => page.getByRole("dialog");
  const log = () => page.getByRole("log");
  const list = () => page.getByRole("complementary", { name: "Conversations" });
  const message = () => page.getByRole("textbox", { name: "Message", exact: true });
  /** Goes to a page by the palette. */
  const goTo = async (name: string) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to or do" }).waitFor();
    await page.keyboard.type(name);
    await page
      .getByRole("option", { name: new RegExp(name) })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name, level: 1 }).waitFor();
  };

  test("signs in", async () => {
    await page.goto(session.service.origin);
    await type(page.getByLabel("API key or admin key"), session.service.apiKey);
    await page.keyboard.press("Enter");
    await message().waitFor();
    await page.goto(await session.signInLink());
    await message().waitFor();
  });

  test("asks, chooses another model, and asks again", async () => {
    await type(message(), "Who is there?");
    await page.keyboard.press("Enter");
    await log().getByText("Hello from the parrot.").waitFor();
    await press(button("Model: parrot"));
    await page.getByRole("combobox", { name: "Models" }).waitFor();
    await page.keyboard.type("raven");
    await page.keyboard.press("Enter");
    await button("Model: raven").waitFor();
    await type(message(), "And now?");
    await page.keyboard.press("Enter");
    await log().getByText("Hello from the raven.").waitFor();
  });

  test("regenerates and copies an answer", async () => {
    await press(button("Regenerate").last());
    await log().getByText("2/2").first().waitFor();
    await reach(button(/^Copy/).last());
  });

  test("begins another conversation, and returns to the first", async () => {
    await page.keyboard.press("Control+Shift+O");
    await page.getByText("What can I do for you?").waitFor();
    await press(list().getByRole("button", { name: /^Who is there/ }));
    await log().getByText("Hello from the raven.").waitFor();
  });

  test("finds a request, and reads it", async () => {
    await goTo("Requests");
    await press(page.getByRole("link", { name: "raven" }));
    await page.getByRole("heading", { name: "raven", level: 1 }).waitFor();
  });

  test("reads the usage of another period", async () => {
    await goTo("Usage");
    await reach(page.getByRole("combobox", { name: "Time range" }));
    await page.keyboard.press("Enter");
    await page.getByRole("option", { name: "Last hour" }).waitFor();
    // The list begins at the option that is chosen.
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toContain("range=1h");
  });

  test("creates a project, and a key in it", async () => {
    await goTo("Projects");
    await press(button("New project"));
    await type(dialog().getByLabel("Name"), "Tides");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Tides" }).waitFor();
    await press(button("New key"));
    await type(dialog().getByLabel("Name"), "Laptop");
    await page.keyboard.press("Enter");
    await page.getByTestId("secret").first().waitFor();
    await press(button("Done", dialog()));
    await dialog().waitFor({ state: "detached" });
    await page.getByRole("cell", { name: "Laptop", exact: true }).first().waitFor();
  });

  test("invites a person", async () => {
    await goTo("People");
    await press(button("Invite"));
    await type(dialog().getByLabel("E-mail address"), "ada@example.com");
    await page.keyboard.press("Enter");
    await dialog().getByTestId("link").waitFor();
    await press(button("Done", dialog()));
    await dialog().waitFor({ state: "detached" });
    expect((await session.admin("GET", "/invites")).data).toMatchObject([{ email: "ada@example.com" }]);
  });

  test("sets a budget", async () => {
    await goTo("Budgets");
    await press(button("New budget"));
    await type(dialog().getByLabel("US dollars"), "5");
    await press(button("Create", dialog()));
    await dialog().waitFor({ state: "detached" });
    expect((await session.admin("GET", "/budgets")).data).toMatchObject([{ threshold_amount: 500 }]);
  });

  test("signs out", async () => {
    await press(button("Sign out"));
    await page.getByLabel("API key or admin key").waitFor();
    expect(session.complaints).toEqual([]);
  });
});

interface FocusOwner {
  document: { activeElement: unknown };
}
