/** The page that connects hosts, in a real Chromium. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";
import { KNOWN_SERVERS, type KnownServer, startKnownServer } from "../support/upstreams/known-servers.ts";

const CONFIG = `
builtin_models: false
models:
  - { id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }
`;

describe.runIf(hasChromium)("connections in the console", () => {
  let session: ConsoleSession;
  let host: KnownServer;
  beforeAll(async () => {
    host = await startKnownServer(KNOWN_SERVERS.vllm ?? {}, { key: "key-of-the-host" });
    session = await startConsole(CONFIG, { hears: false });
    await session.page.goto(await session.signInLink());
    // The page that follows the sign-in would replace one that is opened before.
    await session.page.getByRole("textbox", { name: "Message", exact: true }).waitFor();
  });
  afterAll(async () => {
    await session?.[Symbol.asyncDispose]();
    await host?.[Symbol.asyncDispose]();
  });

  const statuses = () =>
    session.admin("GET", "/configuration/entries").then(({ data }) => data.map((each: { id: string }) => each.id));

  test("connects a host, serves a model at a price, edits, compares, undoes and removes", async () => {
    const { page, open, admin, expectAccessible } = session;
    await open("/connections");
    await page.getByText("parlance.yaml (locked)").waitFor();
    await expectAccessible();

    await page.getByLabel("Address").fill(host.origin);
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("The server refuses the API key.").waitFor();
    await page.getByRole("textbox", { name: "API key" }).fill("key-of-the-host");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("It works").waitFor();
    await page.getByText("vllm 0.11.0").waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await expect.poll(() => page.evaluate("document.documentElement.scrollWidth")).toBe(390);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByLabel("Name of the connection").fill("gpu");
    await page.getByRole("switch", { name: "Qwen/Qwen3-8B" }).click({ force: true });
    await page.getByLabel("ID of Qwen/Qwen3-8B").fill("team-chat");
    await page.getByLabel("Price of input of Qwen/Qwen3-8B").fill("0.15");
    await page.getByLabel("Price of output of Qwen/Qwen3-8B").fill("0.6");
    await expectAccessible();
    await page.getByRole("button", { name: "Save connection" }).click();
    await page.getByText("gpu is connected").waitFor();
    expect(await statuses()).toEqual(["model:parrot", "connection:gpu", "model:team-chat"]);
    expect((await admin("GET", "/models/team-chat")).value).toEqual({
      id: "team-chat",
      task: "chat",
      price: { prompt: "0.00000015", completion: "0.0000006" },
      deployments: [{ connection: "gpu", model: "Qwen/Qwen3-8B", context_window: 40_960 }],
    });
    expect(await page.content()).not.toContain("key-of-the-host");

    await page.getByRole("button", { name: "Edit team-chat" }).click();
    // A form, whose fields keep what they do not show, and the text of all settings.
    await page.getByLabel("Retries before the first token").fill("99");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("retries: must be at most 10").waitFor();
    await page.getByLabel("Retries before the first token").fill("3");
    await page.getByRole("combobox", { name: "Images" }).click();
    await page.getByRole("option", { name: "yes", exact: true }).click();
    expect(await page.getByLabel("$ / million in", { exact: true }).inputValue()).toBe("0.15");
    await page.getByRole("combobox", { name: "Aliases" }).fill("helper");
    await page.keyboard.press("Enter");
    await expectAccessible();
    await page.getByRole("tab", { name: "Advanced" }).click();
    const editor = page.getByLabel("Settings, as in parlance.yaml");
    const value = JSON.parse(await editor.inputValue());
    expect(value).toMatchObject({ retries: 3, aliases: ["helper"], deployments: [{ abilities: { vision: true } }] });
    await editor.fill("id: team-chat\ntask: chat\nretries: [");
    await page.getByRole("tab", { name: "Form" }).click();
    await page.getByText("This is neither valid JSON nor valid YAML.").waitFor();
    await editor.fill(`id: team-chat\ntask: chat\nretries: 4\ndeployments: ${JSON.stringify(value.deployments)}`);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("team-chat is changed").waitFor();
    expect((await admin("GET", "/models/team-chat")).value).toMatchObject({ retries: 4 });

    await page.getByRole("button", { name: "Compare version 2" }).click();
    await page.getByText(/^model team-chat: .*retries/).waitFor();
    await expectAccessible();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Undo version 2" }).click();
    await page.getByRole("button", { name: "Undo", exact: true }).last().click();
    await page.getByText("Version 1 applies again").waitFor();
    await expect.poll(async () => (await admin("GET", "/models/team-chat")).value.retries).toBe(undefined);

    await page
      .getByRole("row", { name: /^team-chat/ })
      .getByRole("button", { name: "Remove" })
      .click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("team-chat is removed").waitFor();
    await expect.poll(statuses).toEqual(["model:parrot", "connection:gpu"]);
    await page.getByRole("button", { name: "Show parrot" }).click();
    await page.getByLabel("Set in parlance.yaml").waitFor();
    expect(session.complaints.filter((each) => !each.includes("status of 400"))).toEqual([]);
  });

  test("serves a model that makes images by clicks", async () => {
    const { page, open, admin } = session;
    await open("/images");
    await page.getByText("This project has no image model").waitFor();
    await page.getByRole("link", { name: "Connect a host" }).click();
    await page.getByLabel("Address").fill(host.origin);
    await page.getByRole("textbox", { name: "API key" }).fill("key-of-the-host");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("It works").waitFor();
    await page.getByLabel("Name of the connection").fill("painters");
    await page.getByRole("switch", { name: "Qwen/Qwen3-8B" }).click({ force: true });
    await session.pick("Task of Qwen/Qwen3-8B", "image");
    await page.getByLabel("ID of Qwen/Qwen3-8B").fill("painter");
    await page.getByRole("button", { name: "Save connection" }).click();
    await page.getByText("painters is connected").waitFor();
    expect((await admin("GET", "/models/painter")).value).toMatchObject({ id: "painter", task: "image" });
    await open("/images");
    await page.getByRole("textbox", { name: "Prompt" }).waitFor();
  });
});
