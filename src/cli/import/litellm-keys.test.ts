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
const ALREADY = { reason: "is there already." };
const OPTIONS = { now: NOW, accessGroups: new Set(["large"]) };
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
    expect(await storeKeys(accounts, list, OPTIONS)).toEqual({
      keys: 2,
      notes: [{ path: "Research", reason: expect.stringContaining("parlance projects allow") }],
    });
    const caller = await accounts.authenticate(SECRET);
    const { projectId: otherProject } = await accounts.authenticate(`${SECRET}2`);
    expect(otherProject).not.toBe(caller.projectId);
    expect(accounts.callers.policyOf(caller, "spendLimits")).toMatchObject([{ thresholdCents: 1250, isEnforcing: 1 }]);
    const names = await accounts.run((executor) => executor.selectFrom("projects").select("name").execute());
    expect(names).toContainEqual({ name: "Research" });
    // A second import adds what is new, to the same project.
    const again = await storeKeys(accounts, [...list.keys, keyOf("sk-third-key-of-the-team", team)], OPTIONS);
    expect(again).toMatchObject({ keys: 1, notes: [ALREADY, ALREADY, { path: "Research" }] });
    expect((await accounts.authenticate("sk-third-key-of-the-team")).projectId).toBe(caller.projectId);
  });

  test("names keys and limits that were not carried over", async () => {
    const accounts = await open();
    const keys = [
      keyOf("blocked", { key_alias: "blocked", blocked: true }),
      keyOf("expired", { key_alias: "expired", expires: "2026-01-01T00:00:00Z" }),
      { key_alias: "bare" },
      keyOf("limited", {
        ...{ key_alias: "limited", max_budget: 1, budget_duration: "2h", rpm_limit: 5, max_parallel_requests: 2 },
        ...{ models: ["gpt-4"], metadata: { tags: ["a"] }, model_max_budget: { "gpt-4": 1 }, model_rpm_limit: {} },
      }),
    ];
    const { keys: count, notes } = await storeKeys(accounts, keys, OPTIONS);
    expect(count).toBe(1);
    expect(notes.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
      "blocked: is blocked.",
      "expired: has expired.",
      "bare: has no hash. Export the keys with return_full_object=true.",
      "limited: has a budget of $1 for 2h, which became one of a day.",
      "limited: has rpm_limit 5, max_parallel_requests 2. Limits belong to projects: parlance projects limit",
      "limited: has tags, which label its spending in LiteLLM. Usage is summed by project and key here.",
      "limited: has model_max_budget, budgets by model. Use: parlance budgets create",
    ]);
    await expect(accounts.authenticate("expired")).rejects.toThrow("Incorrect API key");
  });

  test("allows a key with a list of models that list only, whatever its team may use", async () => {
    const accounts = await open();
    const team = { team_alias: "Research" };
    const keys = {
      team: keyOf("sk-team", team),
      listed: keyOf("sk-listed", { ...team, models: ["gpt-4", "claude-3"] }),
      same: keyOf("sk-same", { ...team, models: ["claude-3", "gpt-4"] }),
      other: keyOf("sk-other", { ...team, models: ["gpt-4"] }),
      alone: keyOf("sk-alone", { models: ["gpt-4"] }),
      group: keyOf("sk-group", { models: ["large"] }),
      all: keyOf("sk-all", { ...team, models: ["all-team-models"] }),
    };
    await storeKeys(accounts, Object.values(keys).slice(0, 2), OPTIONS);
    await storeKeys(accounts, Object.values(keys), OPTIONS);
    const everything = ["gpt-4", "claude-3", "other"];
    const callerOf = (name: keyof typeof keys) => accounts.authenticate(`sk-${name}`);
    const mayUse = async (name: keyof typeof keys) => {
      const access = accounts.callers.modelAccess(await callerOf(name));
      const accessGroups = (id: string) => (id === "claude-3" ? ["large"] : []);
      return everything.filter((id) => access({ id, aliases: [], accessGroups: accessGroups(id) }));
    };
    expect([await mayUse("team"), await mayUse("all")]).toEqual([everything, everything]);
    expect([await mayUse("listed"), await mayUse("same")]).toEqual([everything.slice(0, 2), everything.slice(0, 2)]);
    expect([await mayUse("other"), await mayUse("alone")]).toEqual([["gpt-4"], ["gpt-4"]]);
    expect(await mayUse("group")).toEqual(["claude-3"]);
    const projectOf = async (name: keyof typeof keys) => (await callerOf(name)).projectId;
    expect(await projectOf("same")).toBe(await projectOf("listed"));
    expect(await projectOf("all")).toBe(await projectOf("team"));
    expect(new Set(await Promise.all([projectOf("listed"), projectOf("other"), projectOf("alone")])).size).toBe(3);
  });

  test.each([
    ["1d", "day"],
    ["7d", "week"],
    [undefined, "total"],
  ])("takes over a budget of %s as one of the period %s", async (budget_duration, period) => {
    const accounts = await open();
    const { notes } = await storeKeys(accounts, [keyOf(SECRET, { max_budget: 3, budget_duration })], OPTIONS);
    expect(notes).toEqual([]);
    const caller = await accounts.authenticate(SECRET);
    const budget = { subject: "api_key", subjectId: caller.keyId, period, thresholdCents: 300, isEnforcing: true };
    expect(accounts.callers.policyOf(caller, "budgets")).toMatchObject([budget]);
  });
});
