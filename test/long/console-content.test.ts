/** What a project records, on the pages of the project and of a request, in a real Chromium. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;

describe.runIf(hasChromium)("recorded content in the console", () => {
  let session: ConsoleSession;
  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    // All of the navigation is visible: axe takes links of the page that are not for skip links.
    await session.page.setViewportSize({ width: 1280, height: 1100 });
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("navigation").first().waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  test("turns recording on, shows a prompt on demand, rates it and continues it in the chat", async () => {
    const { page, open, admin, service, expectAccessible } = session;
    const { data } = await admin("GET", "/projects");
    const { id } = data[0];
    await open(`/projects/${id}?tab=recording`);
    await page.getByText("All requests").click();
    await expectAccessible();
    await page.getByRole("button", { name: "Save recording" }).click();
    await page.getByText("Recording saved").waitFor();
    await expect.poll(() => admin("GET", `/projects/${id}/recording`)).toMatchObject({ record_content: "all" });
    const messages = [{ role: "user", content: "Where does the heron sleep?" }];
    const response = await service.post("/v1/chat/completions", { model: "parrot", messages });
    await response.text();
    const request = response.headers.get("x-request-id");
    await expect.poll(() => admin("GET", `/requests/${request}`)).toMatchObject({ recorded: true });
    await open("/requests");
    const search = page.getByRole("searchbox", { name: "Search prompts and answers" });
    await search.fill("heron unicorn");
    await search.press("Enter");
    await page.getByText("No request matches these filters").waitFor();
    await expectAccessible();
    await search.fill("HERON sleep");
    await search.press("Enter");
    await page.locator(`a[href*="${request}"]`).first().waitFor();
    expect(page.url()).toContain("words=");
    // Without words, the list is that of all requests.
    await search.fill("");
    await expect.poll(() => page.url()).not.toContain("words=");
    await open(`/requests/${request}`);
    await page.getByRole("button", { name: "Show prompt and answer" }).click();
    const prompt = page.getByRole("region", { name: "Prompt" });
    await prompt.getByText("Where does the heron sleep?").waitFor();
    await page.getByRole("region", { name: "Answer" }).getByText("Where does the heron sleep?").waitFor();
    await expectAccessible();
    await page.getByRole("button", { name: "Good answer" }).click();
    await page.getByText("Score 1").waitFor();
    expect((await admin("GET", `/requests/${request}`)).feedback).toMatchObject([{ score: 1 }]);
    await page.getByRole("button", { name: "Open in chat" }).click();
    await page.getByText("Where does the heron sleep?").waitFor();
    expect(session.complaints).toEqual([]);
  });

  test("shows why a value is refused at the field of the form", async () => {
    const { page, open, admin, expectAccessible } = session;
    const { data } = await admin("GET", "/projects");
    await open(`/projects/${data[0].id}?tab=recording`);
    await page.getByText("All requests").click();
    const field = page.getByLabel("Maximum MiB");
    await field.fill("2000000000");
    await page.getByRole("button", { name: "Save recording" }).click();
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    await page.getByText(/'max_bytes'/).waitFor();
    expect(await page.getByText("That did not work").count()).toBe(0);
    await expectAccessible();
  });
});
