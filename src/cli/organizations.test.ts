import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Finished, runParlance } from "../../test/support/service/run-parlance.ts";
import { Accounts } from "../features/accounts/accounts.ts";
import { accountExtensions } from "../serving/account-extensions.ts";
import { openDatabase } from "../storage/database.ts";

let cwd: string;
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "parlance-organizations-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

function organizations(...words: string[]): Promise<Finished> {
  return runParlance(["organizations", ...words], { cwd, environment: { PARLANCE_DATA_DIR: cwd } });
}

test("creates an organization whose admin key works until it is archived", async () => {
  const created = await organizations("create", "Équipe 🦉");
  expect(created).toMatchObject({ code: 0, stderr: expect.stringMatching(/^Created org_\w+\./) });
  const key = created.stdout.trim();
  expect(key).toMatch(/^sk-admin-[\w-]{43}$/);

  const [listed] = JSON.parse((await organizations("list", "--json")).stdout);
  expect(listed).toMatchObject({ name: "Équipe 🦉", is_default: false, archived_at: null });
  expect((await organizations("list")).stdout).toContain(listed.id);

  const logger = pino({ level: "silent" });
  const database = openDatabase({ url: undefined, file: join(cwd, "parlance.sqlite"), logger });
  const service = new Accounts({ database, logger, extensions: accountExtensions() });
  try {
    expect(await service.authenticate(key)).toMatchObject({ kind: "admin", organizationId: listed.id });
    expect(await organizations("archive", listed.id)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(listed.id),
    });
    await expect.poll(() => service.authenticate(key).catch((fault) => fault.code)).toBe("invalid_api_key");
  } finally {
    await service.close();
    await database.close();
  }
});

test("rejects an empty name and an unknown ID", async () => {
  expect(await organizations("create", " ")).toMatchObject({ code: 1, stderr: "error: 'name' must not be empty.\n" });
  expect(await organizations("archive", "org_none")).toMatchObject({
    code: 1,
    stderr: "error: There is no organization `org_none`.\n",
  });
  expect(await organizations("archive")).toMatchObject({ code: 2 });
});
