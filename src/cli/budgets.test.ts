import { join } from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type TemporaryDirectory, temporaryDirectory } from "../../test/support/service/temporary-directory.ts";
import { Accounts } from "../features/accounts/accounts.ts";
import { accountExtensions } from "../serving/account-extensions.ts";
import { openDatabase } from "../storage/database.ts";
import { runCommand } from "./run-command.ts";

let folder: TemporaryDirectory;
beforeAll(async () => {
  folder = await temporaryDirectory();
  const logger = pino({ level: "silent" });
  const database = openDatabase({ url: undefined, file: join(folder.path, "parlance.sqlite"), logger });
  const accounts = new Accounts({ database, logger, extensions: accountExtensions() });
  await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
  await accounts.close();
  await database.close();
});
afterAll(() => folder[Symbol.asyncDispose]());

async function parlance(...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  vi.stubEnv("PARLANCE_DATA_DIR", folder.path);
  const output: string[] = [];
  const errors: string[] = [];
  vi.spyOn(console, "log").mockImplementation((text: string) => void output.push(`${text}\n`));
  vi.spyOn(console, "error").mockImplementation((text: string) => void errors.push(`${text}\n`));
  vi.spyOn(process.stderr, "write").mockImplementation((text) => errors.push(String(text)) > 0);
  try {
    const code = await runCommand(words);
    return { code, stdout: output.join(""), stderr: errors.join("") };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
  }
}

test("creates, lists, changes and deletes budgets", async () => {
  await parlance("projects", "create", "Web");
  const each = await parlance("budgets", "create", "--subject", "user", "--amount", "25", "--name", "Everyone");
  expect(each.stdout).toMatch(/^Created budget_\w+: each user may spend \$25\.00 a month\.\n$/);
  const words = [
    "--subject",
    "project",
    "--id",
    "Web",
    "--interval",
    "week",
    "--amount",
    "2.50",
    "--soft",
    "--alert",
    "90,50",
  ];
  const web = JSON.parse((await parlance("budgets", "create", ...words, "--json")).stdout);
  expect(web).toMatchObject({
    ...{ interval: "week", threshold_amount: 250, alert_percents: [50, 90] },
    ...{ enforcement: { status: "inactive" }, subject: { type: "project", id: expect.stringMatching(/^proj_/) } },
  });
  const list = (await parlance("budgets")).stdout;
  expect(list).toMatch(/Everyone +user +each +month +\$25\.00 +hard\n/);
  expect(list).toMatch(/project +proj_\w+ +week +\$2\.50 +soft +\$0\.00 \(0 %\) /);
  const changed = await parlance("budgets", "set", web.id, "--hard", "--amount", "3");
  expect(changed.stdout).toContain(`may spend $3.00 a week.`);
  expect((await parlance("budgets", "usage", web.id)).stdout).toMatch(/^SUBJECT +SPENT +OF BUDGET\n/);
  expect((await parlance("budgets", "delete", web.id)).stdout).toBe(`Deleted ${web.id}.\n`);
  expect((await parlance("budgets", "usage", web.id)).code).toBe(1);
});

test("says what is wrong", async () => {
  const refusedAmount = await parlance("budgets", "create", "--subject", "user", "--amount", "a lot");
  expect([refusedAmount.code, refusedAmount.stderr]).toEqual([2, expect.stringContaining("such as 5 or 2.50")]);
  const endUser = await parlance("budgets", "create", "--subject", "end_user", "--amount", "1");
  expect([endUser.code, endUser.stderr]).toEqual([1, expect.stringContaining("usage.labels.end_users")]);
  const mail = await parlance("budgets", "create", "--subject", "user", "--amount", "1", "--mail", "ada@example.com");
  expect([mail.code, mail.stderr]).toEqual([1, expect.stringContaining("E-mail is not configured")]);
});
