import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Finished, runParlance } from "../../test/support/service/run-parlance.ts";
import { Accounts } from "../features/accounts/accounts.ts";
import { accountExtensions } from "../serving/account-extensions.ts";
import { openDatabase } from "../storage/database.ts";

const logger = pino({ level: "silent" });
let cwd: string;

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "parlance-keys-"));
});

afterEach(() => rm(cwd, { recursive: true, force: true }));

function keys(...words: string[]): Promise<Finished> {
  return runParlance(["keys", ...words], { cwd, environment: { PARLANCE_DATA_DIR: cwd } });
}

/** Runs `work` with the accounts of a running service on the same database. */
async function withService<Result>(work: (accounts: Accounts) => Promise<Result>): Promise<Result> {
  const database = openDatabase({ url: undefined, file: join(cwd, "parlance.sqlite"), logger });
  const accounts = new Accounts({ database, logger, extensions: accountExtensions() });
  try {
    return await work(accounts);
  } finally {
    await accounts.close();
    await database.close();
  }
}

test("fails before the first start, without an organization", async () => {
  const { code, stderr } = await keys("create", "--name", "CI");
  expect(stderr).toMatch(/^error: No organization exists yet/);
  expect(code).toBe(1);
});

test("creates no data directory in a folder without a service", async () => {
  const { code, stderr } = await runParlance(["keys", "list"], { cwd });
  expect(stderr).toContain(`error: No service has run with the data directory ${join(cwd, ".parlance")}. Start one`);
  expect(code).toBe(1);
  expect(await readdir(cwd)).toEqual([]);
});

describe("after the first start", () => {
  beforeEach(() => withService((accounts) => accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined })));

  test("creates a key that works, lists it without its secret, and revokes it", async () => {
    const created = await keys("create", "--name", "Ünïcode ☃", "--expires-in", "30d");
    expect(created.code).toBe(0);
    const secret = created.stdout.trim();
    expect(created.stdout).toMatch(/^sk-\S{32,}\n$/);
    const [id = ""] = /key_\w+/.exec(created.stderr) ?? [];
    await withService(async (accounts) => {
      expect(await accounts.authenticate(secret)).toMatchObject({ keyId: id, kind: "project" });
    });

    const listed = await keys("list");
    expect(listed.stdout).toMatch(new RegExp(`^${id} .*Ünïcode ☃`, "m"));
    expect(listed.stdout).toContain("First admin key");
    expect(listed.stdout).not.toContain(secret);

    expect(await keys("revoke", id)).toMatchObject({ code: 0, stdout: `Revoked ${id}.\n` });
    await withService((accounts) => expect(accounts.authenticate(secret)).rejects.toThrow("Incorrect API key"));
    expect((await keys("list")).stdout).not.toContain(id);
    expect(await keys("revoke", id)).toMatchObject({ code: 1, stderr: `error: There is no API key \`${id}\`.\n` });
  });

  test("creates an admin key with JSON output and revokes it by its ID", async () => {
    const { stdout } = await keys("create", "--name", "CI", "--admin", "--json");
    const { id, kind, value, project_id, expires_at } = JSON.parse(stdout);
    expect({ kind, project_id, expires_at }).toEqual({ kind: "admin", project_id: null, expires_at: null });
    await withService(async (accounts) => expect((await accounts.authenticate(value)).kind).toBe("admin"));
    const listed: { id: string; kind: string; redacted_value: string }[] = JSON.parse(
      (await keys("list", "--json")).stdout,
    );
    expect(listed.map((key) => key.kind)).toEqual(["project", "admin", "admin"]);
    expect(JSON.stringify(listed)).not.toContain(value);
    expect(JSON.parse((await keys("revoke", id, "--json")).stdout)).toEqual({ id, revoked: true });
  });

  test("refuses to revoke the last admin key", async () => {
    const listed: { id: string; kind: string }[] = JSON.parse((await keys("list", "--json")).stdout);
    const admin = listed.find(({ kind }) => kind === "admin")?.id ?? "";
    const { code, stderr } = await keys("revoke", admin);
    expect(stderr).toContain("The last admin key cannot be deleted");
    expect(code).toBe(1);
  });

  test("refuses a key without a name", async () => {
    const { code, stdout, stderr } = await keys("create");
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("required option '--name <name>' not specified");
  });

  test.each([
    [["--name", ""], "'name' must not be empty"],
    [["--name", "a\nb"], "'name' must be one line"],
    [["--name", "x", "--project", "proj_nope"], "There is no project `proj_nope`"],
    [["--name", "x", "--admin", "--project", "proj_x"], "Admin keys do not belong to a project"],
  ])("reports a fault for the invalid key %j", async (words, message) => {
    const { code, stdout, stderr } = await keys("create", ...words);
    expect(stderr).toContain(message);
    expect(stdout).toBe("");
    expect(code).toBe(1);
  });
});
