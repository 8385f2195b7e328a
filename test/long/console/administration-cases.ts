import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { ConsoleSession } from "../../support/service/console-session.ts";

/** A model that only the hub of the session has. */
const REMOTE = "hf:owner/repo/small.gguf";

/** Accounts, models and usage. */
export function administrationCases(session: () => ConsoleSession): void {
  test("gives a service account keys, changes their expiry, and revokes them with the account", async () => {
    const { page, open, pick, service, expectAccessible } = session();
    await open("/projects");
    await page.getByRole("button", { name: "New project" }).click();
    await page.getByLabel("Name").fill("Robots");
    await page.getByRole("button", { name: "Create project" }).click();
    await page.getByRole("tab", { name: "Service accounts" }).click();
    await page.getByRole("button", { name: "New service account" }).click();
    await page.getByLabel("Name").fill("Robot");
    await page.getByRole("button", { name: "Create service account" }).click();
    const secret = async () => (await page.getByTestId("secret").first().textContent())?.trim() ?? "";
    const first = await secret();
    await page.getByRole("button", { name: "Done" }).click();
    await page.getByRole("link", { name: "Robot", exact: true }).click();
    await page.getByRole("heading", { name: "Robot", exact: true }).waitFor();
    await page.getByRole("button", { name: "New key" }).click();
    await page.getByLabel("Name").fill("Second");
    await page.getByRole("button", { name: "Create key" }).click();
    const second = await secret();
    await page.getByRole("button", { name: "Done" }).click();
    const row = page.getByRole("row", { name: "Second" });
    await row.getByRole("button", { name: "Expiry" }).click();
    await pick("Expires", "In a day");
    await page.getByText(/get a 401 from/).waitFor();
    await page.getByRole("button", { name: "Save expiry" }).click();
    await page.getByText("Expiry saved").waitFor();
    await expect.poll(() => row.textContent()).toMatch(/\d{4}, \d/);
    await expectAccessible();

    const statuses = () =>
      Promise.all([first, second].map(async (key) => (await service.fetch("/v1/models", authorized(key))).status));
    expect(await statuses()).toEqual([200, 200]);
    await page.getByRole("link", { name: "Robots" }).click();
    await page.getByRole("tab", { name: "Service accounts" }).click();
    await page.getByRole("row", { name: "Robot" }).getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No service accounts yet").waitFor();
    await expect.poll(statuses).toEqual([401, 401]);
  });

  test("creates, changes and deletes a budget", async () => {
    const { page, open, expectAccessible } = session();
    await open("/budgets");
    await page.getByRole("button", { name: "New budget" }).click();
    await page.getByLabel("Whose spending counts").selectOption("project");
    await page.getByLabel("Within").selectOption("week");
    await page.getByLabel("US dollars").fill("25");
    await page.getByLabel("Refuse requests that could exceed it").check();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Teams");
    await expectAccessible();
    await page.getByRole("button", { name: "Create", exact: true }).click();
    await page.getByText("Teams: Each project, a week").waitFor();
    await page.getByText("Hard", { exact: true }).waitFor();
    await expectAccessible();
    await page.getByRole("button", { name: "Change" }).click();
    await page.getByLabel("Refuse requests that could exceed it").uncheck();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Alerts only").waitFor();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("No budgets yet").waitFor();
  });

  test("renames and archives a project", async () => {
    const { page, open } = session();
    await open("/projects");
    await page.getByRole("link", { name: "Robots" }).click();
    await page.getByRole("button", { name: "Rename" }).first().click();
    await page.getByRole("textbox", { name: "Name" }).fill("Machines");
    await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
    await page.getByRole("heading", { name: "Machines" }).waitFor();
    await page.getByRole("button", { name: "Archive" }).click();
    await page
      .getByRole("dialog")
      .getByText(/All its keys stop working/)
      .waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Archive" }).click();
    await page.getByRole("link", { name: "Machines" }).waitFor({ state: "detached" });
    await page.getByRole("switch", { name: "Archived" }).click();
    await page.getByRole("link", { name: "Machines" }).click();
    await page.getByText("This project is archived").waitFor();
    expect(await page.getByRole("button", { name: "New key" }).count()).toBe(0);
    expect(await page.getByRole("tab", { name: "Limits" }).count()).toBe(0);
  });

  test("shows the progress of pulling a model", async () => {
    const { page, open, hub } = session();
    const held = Promise.withResolvers<void>();
    hub.hold = held.promise;
    hub.add("owner/repo/resolve/main/small.gguf", randomBytes(200_000));
    await open("/models");
    await page.getByRole("button", { name: "Pull a model" }).click();
    await page.getByLabel("Model ID").fill(REMOTE);
    await page.getByRole("dialog").getByRole("button", { name: "Pull", exact: true }).click();
    await page.getByText(/^1 B of 200 kB · small\.gguf$/).waitFor();
    // It goes on without the page, and is shown by the next one.
    await page.reload();
    await page.getByText(/^1 B of 200 kB · small\.gguf$/).waitFor();
    await session().expectAccessible();
    held.resolve();
    hub.hold = undefined;
    await page.getByText(`The files of ${REMOTE} are complete`).waitFor();
  });

  test("draws rate and spend limits into usage, groups it by time and exports it", async () => {
    const { page, open, pick, admin, download, expectAccessible } = session();
    const { data: projects } = await admin("GET", "/projects?limit=100");
    const { id } = projects.find(({ name }: { name: string }) => name === "Default project");
    const { data: limits } = await admin("GET", `/projects/${id}/rate_limits?limit=100`);
    const { id: limit } = limits.find(({ model }: { model: string }) => model === "echo");
    await admin("POST", `/projects/${id}/rate_limits/${limit}`, { max_requests_per_1_minute: 7 });
    const spend = { currency: "USD", interval: "month", threshold_amount: 8000 };
    await admin("POST", `/projects/${id}/spend_limit`, spend);
    await open("/usage");
    await pick("Time range", "Last hour");
    await pick("Metric", "Requests");
    await page.getByText("choose both to see theirs").waitFor();
    await pick("Project", "Default project");
    await pick("Model", "echo");
    await page.getByText(/^Limit: 7 requests per minute\. The highest minute reached \d+/).waitFor();
    await page.locator(".chart-limit-text").first().waitFor();
    await page.getByText(/of \$80/).waitFor();
    await page.getByText(/At this pace, \$.* by the end of the month\./).waitFor();
    await pick("Group by", "Time");
    await page.getByRole("heading", { name: "By minute" }).waitFor();
    await expectAccessible();
    const { name, content } = await download(() => page.getByRole("button", { name: "Export CSV" }).click());
    expect(name).toBe("parlance-usage-1h-by-minute.csv");
    const [head, line = ""] = content.toString().split("\r\n");
    expect(head).toBe("time,group,requests,inputTokens,outputTokens,audioSeconds,characters,cost");
    expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z,All,\d+,\d+,\d+,0,0,\d/);
  });
}

function authorized(key: string) {
  return { headers: { authorization: `Bearer ${key}` } };
}
