import { expect, test } from "vitest";
import { useLocalCommands } from "../../test/support/service/local-commands.ts";

const { parlance } = useLocalCommands();

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
