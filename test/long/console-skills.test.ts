/** Skills in the console: uploaded, given a version, downloaded and deleted. */

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hasChromium } from "../support/service/chromium.ts";
import { type ConsoleSession, startConsole } from "../support/service/console-session.ts";
import { manifest, zipOf } from "../support/skills/zip-entries.ts";

const CONFIG = `
builtin_models: false
models: [{ id: parrot, task: chat, deployments: [{ engine: scripted, echo: true }] }]
`;

describe.runIf(hasChromium)("the console's skills", () => {
  let session: ConsoleSession;
  beforeAll(async () => {
    session = await startConsole(CONFIG, { hears: false });
    await session.page.goto(await session.signInLink());
    await session.page.getByRole("navigation").first().waitFor();
  });
  afterAll(() => session?.[Symbol.asyncDispose]());

  const zip = (description: string) => ({
    name: "tables.zip",
    mimeType: "application/zip",
    buffer: zipOf([{ name: "tables/SKILL.md", content: manifest("tables", description) }]),
  });

  test("uploads a skill and its next version, downloads and deletes it", async () => {
    const { page, open, download, service, expectAccessible } = session;
    const choose = async (file: { name: string; mimeType: string; buffer: Buffer }) => {
      await page.locator("input[type=file]").setInputFiles(file);
      await page.getByRole("dialog").getByRole("button", { name: "Upload" }).click();
    };
    await open("/skills");
    await page.getByText("No skills yet").waitFor();
    await page.getByRole("button", { name: "New skill" }).click();
    await choose({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("no skill") });
    await page.getByText("no SKILL.md").waitFor();
    await expectAccessible();
    await choose(zip("Reads tables."));
    const row = page.getByRole("row", { name: /tables/ });
    await row.getByText("Reads tables.").waitFor();
    await expectAccessible();
    await row.getByRole("button", { name: "New version" }).click();
    await choose(zip("Reads large tables."));
    await row.getByText("Reads large tables.").waitFor();
    const { data } = await service.client().skills.list();
    expect(data).toMatchObject([{ name: "tables", default_version: "2", latest_version: "2" }]);
    await service.client().skills.update(data[0]?.id ?? "", { default_version: "1" });
    await page.reload();
    await row.getByText("1 of 2").waitFor();
    await row.getByRole("button", { name: "Use the latest version" }).click();
    await page.getByText("tables: version 2 is the default").waitFor();
    const file = await download(() => row.getByRole("button", { name: "Download" }).click());
    expect([file.name, file.content.subarray(0, 2).toString()]).toEqual(["tables.zip", "PK"]);
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No skills yet").waitFor();
    expect(session.complaints.filter((each) => !each.includes("status of 400"))).toEqual([]);
  });
});
