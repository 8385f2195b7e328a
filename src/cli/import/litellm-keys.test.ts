import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { Accounts } from "../../features/accounts/accounts.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openDatabase } from "../../storage/database.ts";
import { storeKeys } from "./litellm-keys.ts";

const databases = useDatabases();
let closing = new AsyncDisposableStack();
afterEach(async () => {
  await closing.disposeAsync();
  closing = new AsyncDisposableStack();
});

const NOW = Date.UTC(2026, 10, 23);
const SECRET = "sk-litellm-AbCdEfGhIjKlMnOpQrStUv";

function keyOf(secret: string, fields: object = {}) {
  return { token: createHash("sha256").update(secret).digest("hex"), key_name: "sk-...StUv", ...fields };
}

describe.each(DATABASE_KINDS)("on %s", (kind) => {
  async function open(): Promise<Accounts> {
    const options = await databases.create(kind);
    const database = openDatabase(options);
    closing.defer(() => database.close());
    const accounts = new Accounts({ database, extensions: accountExtensions(), logger: options.logger });
    closing.defer(() => accounts.close());
    await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
    return accounts;
  }

  test("keys of LiteLLM work after the import, in the project of their team, within their budget", async () => {
    const accounts = await open();
    const team = { team_id: "team-1", team_alias: "Research", key_alias: "ada" };
    const budget = { max_budget: 12.5, budget_duration: "30d" };
    const list = { keys: [keyOf(SECRET, { ...team, ...budget }), keyOf(`${SECRET}2`)] };
    expect(await storeKeys(accounts, list, NOW)).toEqual({ keys: 2, notes: [] });
    const caller = await accounts.authenticate(SECRET);
    const { projectId: otherProject } = await accounts.authenticate(`${SECRET}2`);
    expect(otherProject).not.toBe(caller.projectId);
    expect(accounts.callers.policyOf(caller, "spendLimits")).toMatchObject([{ thresholdCents: 1250, isEnforcing: 1 }]);
    const names = await accounts.run((executor) => executor.selectFrom("projects").select("name").execute());
    expect(names).toContainEqual({ name: "Research" });
    // A second import adds what is new, to the same project.
    const again = await storeKeys(accounts, [...list.keys, keyOf("sk-third-key-of-the-team", team)], NOW);
    expect(again).toMatchObject({ keys: 1, notes: [{ reason: "is there already." }, { reason: "is there already." }] });
    expect((await accounts.authenticate("sk-third-key-of-the-team")).projectId).toBe(caller.projectId);
  });

  test("names keys and limits that were not carried over", async () => {
    const accounts = await open();
    const keys = [
      keyOf("blocked", { key_alias: "blocked", blocked: true }),
      keyOf("expired", { key_alias: "expired", expires: "2026-01-01T00:00:00Z" }),
      { key_alias: "bare" },
      keyOf("daily", { key_alias: "daily", max_budget: 1, budget_duration: "1d", rpm_limit: 5, models: ["gpt-4"] }),
    ];
    const { keys: count, notes } = await storeKeys(accounts, keys, NOW);
    expect(count).toBe(1);
    expect(notes.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
      "blocked: is blocked.",
      "expired: has expired.",
      "bare: has no hash. Export the keys with return_full_object=true.",
      "daily: has a budget of $1 for 1d, which became one of a calendar month.",
      "daily: may use gpt-4 only. Permissions belong to projects: parlance projects allow",
      "daily: has rate limits. Limits belong to projects: parlance projects limit",
    ]);
    await expect(accounts.authenticate("expired")).rejects.toThrow("Incorrect API key");
  });
});
