/** The forms of a project's guardrails and keys in a real Chromium, and what guardrails did on the page of a request. */

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
    await page.getByText("Guardrail, output").waitFor();
    await expectAccessible();
    expect(session.complaints).toEqual([]);
  });

  test("sets what keys of people must keep, and removes it", async () => {
    const { page, open, admin, expectAccessible } = session;
    const { data } = await admin("GET", "/projects");
    const path = `/projects/${data[0].id}`;
    await open(`${path}?tab=limits`);
    await page.getByLabel("Keys of each person").fill("3");
    await page.getByLabel("Days until a key expires").fill("90");
    await page.getByLabel("Spend of each key in a month, US dollars").fill("12.5");
    await page.getByLabel("Models", { exact: true }).first().fill("parrot");
    await page.keyboard.press("Enter");
    await expectAccessible();
    await page.getByRole("button", { name: "Save rules" }).click();
    const rules = () => admin("GET", `${path}/key_rules`);
    await expect.poll(rules).toMatchObject({
      ...{ max_keys_per_user: 3, max_lifetime_seconds: 90 * 86_400, model_ids: ["parrot"] },
      max_spend_cents_per_month: 1250,
    });
    await page.reload();
    for (const label of ["Keys of each person", "Days until a key expires"]) await page.getByLabel(label).fill("");
    await page.getByLabel("Spend of each key in a month, US dollars").fill("");
    await page.getByLabel("Models", { exact: true }).first().focus();
    await page.keyboard.press("Backspace");
    await page.getByRole("button", { name: "Save rules" }).click();
    await expect.poll(rules).toMatchObject({ max_keys_per_user: null, max_lifetime_seconds: null, model_ids: null });
  });

  test("sets a project's tools, service tiers and data retention, each at once", async () => {
    const { page, open, pick, admin, expectAccessible } = session;
    const { data } = await admin("GET", "/projects");
    const path = `/projects/${data[0].id}`;
    const saved = (policy: string) => expect.poll(() => admin("GET", `${path}/${policy}`));
    await open(`${path}?tab=policies`);
    await page.getByRole("switch", { name: "Web search" }).click();
    await saved("hosted_tool_permissions").toMatchObject({ web_search: { enabled: false }, mcp: { enabled: true } });
    await pick("Requests that name no tier", "Fast");
    await page.getByRole("switch", { name: "Requests may name any tier" }).click();
    await page.getByRole("checkbox", { name: "Flex" }).click();
    await saved("service_tier_settings").toMatchObject({ default: "fast", enabled_tiers: ["flex"] });
    await page.getByRole("radio", { name: "Keep nothing" }).click();
    await saved("data_retention").toMatchObject({ type: "zero_data_retention" });
    await expectAccessible();
    await open("/organization?tab=retention");
    await page.getByRole("radio", { name: "Store, but never record" }).click();
    await expect.poll(() => admin("GET", "/data_retention")).toMatchObject({ type: "modified_abuse_monitoring" });
    await open(`${path}?tab=policies`);
    await page.getByRole("radio", { name: "Record and store" }).click();
    await page.getByText("a project may only keep as much or less").waitFor();
    await page.getByRole("radio", { name: "As the organization" }).click();
    await saved("data_retention").toMatchObject({ type: "organization_default" });
    await admin("POST", "/data_retention", { retention_type: "none" });
  });

  test("renames and rotates a key, and restricts an admin key", async () => {
    const { page, open, admin, service, expectAccessible } = session;
    const { data } = await admin("GET", "/projects");
    const path = `/projects/${data[0].id}`;
    const { api_key: key } = await admin("POST", `${path}/service_accounts`, { name: "Nightly" });
    await open(`${path}?tab=keys`);
    const row = page.getByRole("row", { name: /Nightly/ }).first();
    await row.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("dialog").getByLabel("Name").fill("Weekly");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    const renamed = page.getByRole("row", { name: /Weekly/ });
    await renamed.first().waitFor();
    await renamed.first().getByRole("button", { name: "Rotate" }).click();
    await page.getByRole("button", { name: "Rotate key" }).click();
    const secret = (await page.getByTestId("secret").first().textContent())?.trim() ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    const modelsWith = async (value: string) =>
      (await fetch(`${service.baseUrl}/models`, { headers: { authorization: `Bearer ${value}` } })).status;
    expect([await modelsWith(secret), await modelsWith(key.value)]).toEqual([200, 200]);
    await expectAccessible();
    await open("/organization");
    await page.getByRole("button", { name: "New admin key" }).click();
    await page.getByLabel("Name").fill("Reporter");
    await page.getByRole("combobox", { name: "Permissions" }).fill("project.usage");
    await page.getByRole("option", { name: "project.usage.read" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Create key" }).click();
    const restricted = (await page.getByTestId("secret").first().textContent())?.trim() ?? "";
    await page.getByRole("button", { name: "Done" }).click();
    await page
      .getByRole("row", { name: /Reporter/ })
      .getByText("project.usage.read")
      .waitFor();
    const headers = { authorization: `Bearer ${restricted}` };
    expect((await fetch(`${service.baseUrl}/organization/requests`, { headers })).status).toBe(200);
    expect((await fetch(`${service.baseUrl}/organization/users`, { headers })).status).toBe(403);
  });
});
