import { readFile, stat } from "node:fs/promises";
import { expect, test } from "vitest";
import { useLocalCommands } from "../../test/support/service/local-commands.ts";
import { OPERATOR } from "../features/accounts/audit/audit.ts";

const { parlance, withAccounts, path } = useLocalCommands();

test("invites a person, changes roles, disables and removes the user", async () => {
  await parlance("projects", "create", "Team A");
  const email = "ada@example.com";
  const invited = await parlance("invites", "create", "Ada@example.com", "--project", "Team A", "--expires-in", "2d");
  expect(invited.stderr).toContain(email);
  const token = invited.stdout.trim();
  expect((await parlance("invites", "list")).stdout).toMatch(/ada@example.com +reader +pending/);
  expect((await parlance("invites", "create", email)).code).toBe(1);
  await withAccounts((accounts) => accounts.invites.accept(OPERATOR, { token, email, name: "Ada" }));

  expect((await parlance("users", "list")).stdout).toMatch(/ada@example.com +Ada +reader +enabled +never/);
  expect((await parlance("users", "role", email, "viewer", "--project", "Team A")).stdout).toContain(
    "viewer in Team A",
  );
  expect((await parlance("users", "role", email, "owner")).stdout).toContain("is owner");
  const last = await parlance("users", "remove", email);
  expect(last).toMatchObject({ code: 1, stderr: expect.stringContaining("last owner") });
  await parlance("invites", "create", "bob@example.com", "--role", "owner");
  expect((await parlance("invites", "delete", "bob@example.com")).stdout).toContain("bob@example.com");
  const second = (await parlance("invites", "create", "eve@example.com", "--role", "owner")).stdout.trim();
  await withAccounts((accounts) =>
    accounts.invites.accept(OPERATOR, { token: second, email: "eve@example.com", name: "Eve" }),
  );
  expect((await parlance("users", "disable", email)).stdout).toContain("is disabled");
  expect((await parlance("users", "enable", email)).stdout).toContain("is enabled");
  const user = JSON.parse((await parlance("users", "list", "--json")).stdout)[0];
  expect(user).toMatchObject({ email, role: "owner", projects: { data: [{ name: "Team A", role: "viewer" }] } });
  expect((await parlance("users", "remove", email, "--project", "Team A")).code).toBe(0);
  expect((await parlance("users", "remove", user.id)).stdout).toContain("Removed ada@example.com");
  expect((await parlance("users", "list")).stdout).not.toContain(email);
});

test("exports and erases a user and an end user", async () => {
  const email = "ottilie@example.com";
  const token = (await parlance("invites", "create", email)).stdout.trim();
  const user = await withAccounts((accounts) => accounts.invites.accept(OPERATOR, { token, email, name: "Ottilie" }));
  const output = path("export.jsonl");
  expect(await parlance("users", "export", email, "--output", output)).toMatchObject({ code: 0 });
  const lines = (await readFile(output, "utf8")).trim().split("\n");
  const records = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  expect(records[0]).toMatchObject({ record: "export" });
  expect(records).toContainEqual(expect.objectContaining({ record: "users", id: user.id, email }));
  expect(records.at(-1)).toEqual({ record: "end", rows: records.length - 2 });
  expect((await stat(output)).mode & 0o777).toBe(0o600);
  expect(await parlance("users", "export", email, "--output", output)).toMatchObject({ code: 1 });

  const refused = await parlance("users", "erase", email);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
  expect((await parlance("users", "list")).stdout).toContain(email);
  const erased = JSON.parse((await parlance("users", "erase", email, "--yes", "--json")).stdout);
  expect(erased).toMatchObject({ erased: true, rows: { users: 1 }, pseudonym: expect.stringMatching(/^erased_/) });
  expect((await parlance("users", "list")).stdout).not.toContain(email);
  expect((await parlance("users", "erase", "a/b c", "--end-user", "--yes")).stdout).toContain("Erased a/b c: 0 rows.");
});

test("manages roles of the organization and of a project", async () => {
  await parlance("projects", "create", "Team R");
  for (const options of [[], ["--project", "Team R"]]) {
    const created = await parlance("roles", "create", "Reporter", "project.usage.read", "project.read", ...options);
    expect(created.stdout).toContain("Created role_");
    expect((await parlance("roles", "list", ...options)).stdout).toMatch(/Reporter +custom +2/);
    expect((await parlance("roles", "create", "x", "everything", ...options)).code).toBe(1);
    expect((await parlance("roles", "delete", "Reporter", ...options)).code).toBe(0);
    expect((await parlance("roles", "list", ...options)).stdout).not.toContain("Reporter");
  }
  expect((await parlance("roles", "delete", "owner")).code).toBe(1);
});
