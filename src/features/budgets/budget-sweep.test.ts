import { accountExtensions } from "../../serving/account-extensions.ts";
/** Budgets that were reached without a request that noticed are reported once, by e-mail. */

import { afterEach, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { startSmtpReceiver } from "../../../test/support/mail/smtp-receiver.ts";
import { eventually } from "../../../test/support/service/eventually.ts";
import { createLogger } from "../../kernel/logger.ts";
import { Secret } from "../../kernel/secret.ts";
import { openDatabase } from "../../storage/database.ts";
import { Accounts } from "../accounts/accounts.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { MailOutbox } from "../mail/mail-outbox.ts";
import { type MailOutcome, MailSender } from "../mail/mail-sender.ts";
import type { MailSettings } from "../mail/settings.ts";
import { type UsageRecord, UsageRows } from "../usage/usage-batch.ts";
import { writeUsage } from "../usage/usage-queries.ts";
import { UsageReports } from "../usage/usage-report.ts";
import { WebhookOutbox } from "../webhooks/webhook-outbox.ts";
import { BudgetSweep } from "./budget-sweep.ts";
import { BudgetUsage } from "./budget-usage.ts";
import { Budgets, type NewBudget } from "./budgets.ts";
import { isAlertWanted, publishSpendAlert } from "./publish-spend-alert.ts";
import { SpendAlerts } from "./spend-alerts.ts";

const databases = useDatabases();
const logger = createLogger("silent");
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

const CENT = 1e7;

function settingsOf(port: number, more: Partial<MailSettings> = {}): MailSettings {
  const from = "Parlance <parlance@example.com>";
  return { host: "127.0.0.1", port, security: "none", from, ...more } as MailSettings;
}

test.each(DATABASE_KINDS)("two replicas on %s report each subject and percentage once", async (kind) => {
  const smtp = cleanup.use(await startSmtpReceiver());
  const options = await databases.create(kind);
  const replicas = [1, 2].map(() => {
    const database = openDatabase({ ...options, logger });
    cleanup.defer(() => database.close());
    const accounts = new Accounts({ database, logger, extensions: accountExtensions() });
    cleanup.defer(() => accounts.close());
    const reports = new UsageReports(database);
    const usage = { reports, spentIn: reports.spentIn.bind(reports) };
    const outbox = new MailOutbox();
    const sender = new MailSender({ settings: settingsOf(smtp.port), database, outbox, logger, onAttempt: () => {} });
    cleanup.defer(() => sender.close());
    const channels = { webhooks: new WebhookOutbox([]), mail: { outbox, publicUrl: undefined } };
    const alerts = new SpendAlerts({
      ...{ database, logger, spentIn: usage.spentIn },
      isWanted: (bound) => isAlertWanted(channels, bound),
      publish: (executor, alert) => publishSpendAlert(channels, executor, alert),
    });
    cleanup.defer(() => alerts.close());
    const rules = { recordsEndUsers: true, recordsTags: true, sendsMail: true };
    const budgets = new Budgets(accounts.transactions, rules);
    const sweep = new BudgetSweep({ budgets, usage: new BudgetUsage(usage), alerts, logger });
    cleanup.defer(() => sweep.close());
    return { database, accounts, budgets, sweep };
  });
  const [first] = replicas;
  if (first === undefined) throw new Error("no replica");
  const { accounts, budgets, database } = first;
  await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined, anonymousProject: undefined });
  const { organizationId, projectId = "" } = await accounts.defaultScope("project");
  const newBudget = (subject: NewBudget["subject"], period: NewBudget["period"], percents: number[]): NewBudget => ({
    ...{ kind: "budget", name: null, organizationId, projectId: null, subject, subjectId: null, period },
    ...{ thresholdCents: 100, isEnforcing: true, startsAt: undefined, alertPercents: percents },
    notification: { recipients: ["ada@example.com", "bob@example.com"], subjectPrefix: null },
  });
  await budgets.create(OPERATOR, newBudget("end_user", "month", [50, 100]));
  await budgets.create(OPERATOR, newBudget("organization", "total", [200]));
  let batches = 0;
  const spend = async (endUser: string, cents: number) => {
    batches += 1;
    const record: UsageRecord = {
      ...{ at: Date.now(), organizationId, projectId, keyId: "key_1", model: "m", deployment: "d", operation: "chat" },
      ...{ promptTokens: 0, cachedTokens: 0, completionTokens: 1, reasoningTokens: 0, characters: 0 },
      ...{ audioMilliseconds: 0, costNanoDollars: cents * CENT },
      labels: [{ kind: "end_user", value: endUser }],
    };
    const batch = { writer: "one", number: batches, ...UsageRows.of([record]).content };
    await database.transaction((transaction) => writeUsage(transaction, [batch], Date.now()));
  };
  const sweep = () => Promise.all(replicas.map((each) => each.sweep.run()));
  const subjects = () =>
    smtp.received.filter(({ to }) => to === "ada@example.com").map(({ body }) => body.split(" are")[0]);
  const mails = async (count: number) => {
    await sweep();
    await sweep();
    await eventually(() => expect(smtp.received).toHaveLength(2 * count));
  };

  await spend("ada", 49);
  await spend("bob", 120);
  await mails(1);
  expect(subjects()).toEqual(["The monthly budget of the end user bob has reached 100 %: $1.20 of $1.00"]);
  await spend("ada", 1);
  await mails(2);
  expect(subjects().at(-1)).toBe("The monthly budget of the end user ada has reached 50 %: $0.50 of $1.00");
  await spend("carl", 40);
  await mails(3);
  expect(subjects().at(-1)).toBe(
    `The total budget of the organization ${organizationId} has reached 200 %: $2.10 of $1.00`,
  );
  const queued = () => database.run((executor) => executor.selectFrom("mailDeliveries").select("id").execute());
  await eventually(async () => expect(await queued()).toEqual([]));
});

test("encrypts and authenticates, and drops what the server refuses for good", async () => {
  const smtp = cleanup.use(
    await startSmtpReceiver({
      ...{ secure: false, disabledCommands: [], authOptional: false, allowInsecureAuth: true },
      onAuth: ({ username, password }, _session, done) =>
        password === "right" ? done(null, { user: username }) : done(new Error("wrong password")),
    }),
  );
  const outcomesWith = async (settings: Partial<MailSettings>, codes: number[], expected: MailOutcome[]) => {
    const database = openDatabase({ ...(await databases.create("sqlite")), logger });
    cleanup.defer(() => database.close());
    const outbox = new MailOutbox();
    const outcomes: MailOutcome[] = [];
    const sender = new MailSender({
      ...{ settings: settingsOf(smtp.port, settings), database, outbox, logger },
      ...{ onAttempt: (_type, outcome) => void outcomes.push(outcome), backoff: { initial: 0.001, max: 0.001 } },
    });
    cleanup.defer(() => sender.close());
    smtp.refuseWith(...codes);
    const mail = {
      type: "test",
      organizationId: "org_1",
      recipients: ["ada@example.com"],
      subject: "Hi\r\nBcc: eve@example.com",
      body: "Hm.",
    };
    await database.transaction((executor) => outbox.add(executor, mail, Date.now()));
    await eventually(() => expect(outcomes.slice(0, expected.length)).toEqual(expected));
    return outcomes;
  };
  const login = { user: "parlance", password: new Secret("right") };
  // The server's certificate is its own, which no client trusts.
  await outcomesWith({ ...login, security: "starttls" }, [], ["retried"]);
  expect(smtp.received).toEqual([]);
  await outcomesWith({ ...login, password: new Secret("wrong") }, [], ["retried", "retried"]);
  await outcomesWith(login, [451, 421], ["retried", "retried", "delivered"]);
  expect(smtp.received).toMatchObject([{ to: "ada@example.com", user: "parlance", body: "Hm.\n" }]);
  await outcomesWith(login, [550], ["dropped"]);
  await outcomesWith(login, Array(16).fill(451), [...Array(15).fill("retried"), "dropped"]);
  expect(smtp.received).toHaveLength(1);
});
