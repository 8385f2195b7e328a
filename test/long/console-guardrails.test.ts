/** The form of a project's guardrails, and what they did on the page of a request, in a real Chromium. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;

describe.runIf(hasChromium)("guardrails in the console", () => {
  let session: ConsoleSession;
  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("navigation").first().waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  test("sets a project's guardrails by a form, and shows what they did to a request", async () => {
    const { page, open, pick, admin, service, expectAccessible } = session;
    const { data } = await admin("GET", "/projects");
    const { id } = data[0];
    await open(`/projects/${id}?tab=guardrails`);
    await page.getByRole("tab", { name: "Guardrails" }).click();
    await pick("Personal data", "Mask and restore");
    await pick("Words", "Block");
    await page.getByLabel("Words and phrases").fill("Project Falcon\nEagle");
    await expectAccessible();
    await page.getByRole("button", { name: "Save guardrails" }).click();
    await page.getByText("Guardrails saved").waitFor();
    const list = () => admin("GET", `/projects/${id}/guardrails`);
    await expect.poll(list).toMatchObject({
      guardrails: [
        { type: "pii", action: "mask_and_restore" },
        { type: "words", action: "block", words: ["Project Falcon", "Eagle"] },
      ],
    });
    const messages = [{ role: "user", content: "Mail ada@example.com" }];
    const response = await service.post("/v1/chat/completions", { model: "parrot", messages });
    expect(JSON.stringify(await response.json())).toContain("Mail ada@example.com");
    const request = response.headers.get("x-request-id");
    await expect
      .poll(() => admin("GET", `/requests/${request}`))
      .toMatchObject({ guardrails: [{ outcome: "masked" }, {}, {}] });
    await open(`/requests/${request}`);
    await page.getByText("EMAIL_ADDRESS: 1").waitFor();
    await page.getByText("Guardrail · output").waitFor();
    await expectAccessible();
    expect(session.complaints).toEqual([]);
  });
});
