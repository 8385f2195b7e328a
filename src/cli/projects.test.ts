import { expect, test } from "vitest";
import { useLocalCommands } from "../../test/support/service/local-commands.ts";
import { SpendLimitService } from "../features/quota/spend-limit-service.ts";

const { parlance, withAccounts } = useLocalCommands();

test("manages a project, its keys and its service accounts by name", async () => {
  const { id } = JSON.parse((await parlance("projects", "create", "Team A", "--json")).stdout);
  expect((await parlance("projects", "rename", "Team A", "Team B")).stdout).toContain(id);
  expect((await parlance("projects", "list")).stdout).toMatch(new RegExp(`^${id} +Team B `, "m"));

  const key = await parlance("keys", "create", "--name", "Ada", "--project", "Team B");
  const account = await parlance("service-accounts", "create", "Bot", "--project", "Team B");
  expect(account.stderr).toContain("in Team B");
  await withAccounts(async (accounts) => {
    for (const secret of [key, account]) {
      expect(await accounts.authenticate(secret.stdout.trim())).toMatchObject({ projectId: id });
    }
  });
  expect((await parlance("service-accounts", "list", "--project", id)).stdout).toMatch(/ Bot +member /);

  const keys = (await parlance("keys", "list", "--project", "Team B")).stdout.trim().split("\n");
  expect(keys).toEqual([
    expect.stringMatching(/^ID /),
    expect.stringMatching(/ Ada +Team B /),
    expect.stringMatching(/ Bot +Team B /),
  ]);

  expect((await parlance("keys", "revoke", "Ada")).code).toBe(0);
  expect((await parlance("service-accounts", "delete", "Bot", "--project", "Team B")).code).toBe(0);
  await withAccounts(async (accounts) => {
    for (const secret of [key, account]) {
      await expect(accounts.authenticate(secret.stdout.trim())).rejects.toThrow("Incorrect API key");
    }
  });

  expect((await parlance("projects", "archive", "Team B")).stdout).toContain(id);
  expect((await parlance("projects", "list")).stdout).not.toContain(id);
  expect((await parlance("projects", "list", "--archived")).stdout).toContain(id);
});

test("limits a project on a model that is named by an alias", async () => {
  await parlance("projects", "create", "Limited");
  const words = ["limit", "Limited", "whisper-1", "--requests-per-minute", "2", "--json"];
  expect(JSON.parse((await parlance("projects", ...words)).stdout)).toMatchObject({
    model: "moonshine-base-en",
    requests_per_minute: 2,
    tokens_per_minute: null,
  });
});

test("allows models and sets a monthly budget", async () => {
  const { id } = JSON.parse((await parlance("projects", "create", "Bounded", "--json")).stdout);
  const owner = await withAccounts(async (accounts) => {
    const { organizationId } = await accounts.defaultScope("admin");
    return { organizationId, projectId: id as string, keyId: undefined };
  });
  expect((await parlance("projects", "allow", "Bounded", "whisper-1", "flite")).stdout).toContain(
    "may use moonshine-base-en, flite.",
  );
  expect((await parlance("projects", "budget", id, "2.5")).stdout).toContain("may spend 2.50 dollars a month.");
  await withAccounts(async (accounts) => {
    const modelIds = ["moonshine-base-en", "flite"];
    expect(await accounts.modelPermissions.retrieve(owner)).toEqual({ mode: "allow_list", modelIds });
    expect(await new SpendLimitService(accounts.transactions).retrieve(owner)).toMatchObject({
      thresholdCents: 250,
      isEnforcing: 1,
    });
  });
  expect((await parlance("projects", "allow", "Bounded", "--all")).stdout).toContain("may use every model.");
  expect((await parlance("projects", "budget", "Bounded", "none")).stdout).toContain("may spend any amount.");
  await withAccounts(async (accounts) => {
    expect(await accounts.modelPermissions.retrieve(owner)).toBeUndefined();
    await expect(new SpendLimitService(accounts.transactions).retrieve(owner)).rejects.toThrow(
      "There is no spend limit",
    );
  });
});

test.each([
  [["projects", "rename", "nobody", "x"], "There is no project `nobody`."],
  [["projects", "limit", "Default project", "no-model", "--requests-per-day", "1"], "may use no model of this ID"],
  [["projects", "limit", "Default project", "flite"], "Give at least one limit"],
  [["projects", "allow", "Default project"], "Give either models or --all."],
  [["projects", "allow", "Default project", "no-model"], "is not a known model"],
  [["service-accounts", "delete", "nobody"], "There is no service account `nobody`."],
  [["keys", "create", "--name", "Key", "--admin", "--service-account", "Bot"], "Admin keys do not belong to a project"],
])("reports a fault for %j", async (words, message) => {
  const { code, stderr } = await parlance(...words);
  expect(stderr).toContain(message);
  expect(code).toBe(1);
});

test("asks for the ID where two projects have the same name", async () => {
  for (const _ of [1, 2]) await parlance("projects", "create", "Twice");
  expect((await parlance("projects", "archive", "Twice")).stderr).toMatch(
    /^error: 2 projects have the name `Twice`\. Give the ID of the project: proj_\w+, proj_\w+\.$/m,
  );
});
