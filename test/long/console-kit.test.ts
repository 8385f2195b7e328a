/** Tables, forms and dialogs of the console, which every page builds from the same parts. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const CONFIG = `
builtin_models: false
usage: { labels: { end_users: true, tag_metadata: [feature] } }
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, replies: [{ text: Hello }] }] }
`;

describe.runIf(hasChromium)("forms and tables of the console", () => {
  let session: ConsoleSession;

  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    for (const name of ["Beta", "Alpha", "Gamma"]) await session.admin("POST", "/projects", { name });
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const budgets = async () => (await session.admin("GET", "/budgets")).data;

  test("creates no budget by one click, and refuses an amount out of range at its field", async () => {
    const { page, open } = session;
    await open("/budgets");
    await page.getByRole("button", { name: "New budget" }).click();
    const dialog = page.getByRole("dialog", { name: "New budget" });
    const dollars = dialog.getByLabel("US dollars");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("Fill in this field.").waitFor();
    expect(await dollars.getAttribute("aria-invalid")).toBe("true");
    await dollars.fill("-5");
    await dialog.getByLabel("Name").focus();
    expect(await dollars.inputValue()).toBe("-$5");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.getByText("At least $0.01.").waitFor();
    expect(await budgets()).toEqual([]);
    await session.expectAccessible();
    await dollars.fill("5");
    await dialog.getByRole("button", { name: "Create" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await budgets()).toMatchObject([{ threshold_amount: 500, enforcement: { status: "inactive" } }]);
  });

  test("warns of a second budget for the same spending", async () => {
    const { page } = session;
    await page.getByRole("button", { name: "New budget" }).click();
    const dialog = page.getByRole("dialog", { name: "New budget" });
    await dialog.getByText("There is a budget like this already").waitFor();
    await dialog.getByLabel("Within").selectOption("day");
    await dialog.getByText("There is a budget like this already").waitFor({ state: "detached" });
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
  });

  test("says in its own words, at the field, which address it needs", async () => {
    const { page, open } = session;
    await open("/people");
    const invite = page.getByRole("button", { name: "Invite", exact: true });
    await invite.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Invite a person" });
    await dialog.getByLabel("E-mail address").fill("nobody");
    await page.keyboard.press("Enter");
    await dialog.getByText("Enter an e-mail address, such as name@example.com.").waitFor();
    expect((await session.admin("GET", "/invites")).data).toEqual([]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await expect.poll(() => invite.evaluate("document.activeElement.textContent")).toBe("Invite");
    await open("/webhooks");
    await page.getByRole("button", { name: "New endpoint" }).click();
    const endpoint = page.getByRole("dialog", { name: "New endpoint" });
    await endpoint.getByLabel("URL").fill("example.com");
    await endpoint.getByRole("button", { name: "Add endpoint" }).click();
    await endpoint.getByText("Enter an address that begins with http:// or https://.").waitFor();
  });

  test("invites a person into a project unless told otherwise", async () => {
    const { page, open } = session;
    await open("/people");
    await page.getByRole("button", { name: "Invite", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Invite a person" });
    await dialog.getByLabel("E-mail address").fill("ada@example.com");
    expect(await dialog.getByLabel("Project", { exact: true }).inputValue()).not.toBe("");
    await dialog.getByRole("button", { name: "Create invite" }).click();
    await dialog.getByTestId("link").waitFor();
    // Shown once: only its button closes it.
    await page.keyboard.press("Escape");
    await dialog.getByRole("button", { name: "Done" }).click();
    const { data } = await session.admin("GET", "/invites");
    expect(data).toMatchObject([{ email: "ada@example.com", projects: [{ role: "member" }] }]);
  });

  test("leads to a model that the project lacks", async () => {
    const { page, open } = session;
    for (const [path, title] of [
      ["/images", "This project has no image model"],
      ["/talk", "This project has no transcription model"],
    ] as const) {
      await open(path);
      await page.getByText(title).waitFor();
      await page.getByRole("link", { name: "Connect a host" }).waitFor();
    }
    await page.getByRole("link", { name: "Pull a model" }).click();
    await page.getByRole("heading", { name: "Models" }).waitFor();
  });

  test("sums usage by person, tag and end user, and compares it with the period before", async () => {
    const { page, open, service } = session;
    const body = {
      model: "parrot",
      user: "customer-7",
      messages: [{ role: "user", content: "Hi" }],
      metadata: { feature: "checkout" },
    };
    expect((await service.post("/v1/chat/completions", body)).status).toBe(200);
    for (const [group, name] of [
      ["end_user", "customer-7"],
      ["tag", "feature:checkout"],
      ["user_id", "Programs"],
    ]) {
      await open(`/usage?groupBy=${group}`);
      const row = page.getByRole("row", { name: new RegExp(`^${name}`) });
      await expect.poll(() => row.count(), { timeout: 20_000 }).toBe(1);
      await expect.poll(() => row.textContent()).toMatch(/new$/);
    }
    await session.expectAccessible();
  });

  test("sorts rows by a column, the largest first", async () => {
    const { page, open } = session;
    await open("/projects");
    await page.getByRole("link", { name: "Gamma" }).waitFor();
    const names = () => page.locator("tbody .link").allTextContents();
    const heading = page.getByRole("columnheader", { name: "Name" });
    await heading.getByRole("button").click();
    expect((await names()).slice(0, 2)).toEqual(["Gamma", "Default project"]);
    expect(await heading.getAttribute("aria-sort")).toBe("descending");
    await heading.getByRole("button").click();
    expect((await names())[0]).toBe("Alpha");
    await session.expectAccessible();
  });
});
