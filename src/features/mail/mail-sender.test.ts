import { afterEach, expect, test } from "vitest";
import { DATABASE_KINDS, useDatabases } from "../../../test/support/databases/databases.ts";
import { startSmtpReceiver } from "../../../test/support/mail/smtp-receiver.ts";
import { accountExtensions } from "../../serving/account-extensions.ts";
import { openDatabase } from "../../storage/database.ts";
import { Accounts } from "../accounts/accounts.ts";
import { OPERATOR } from "../accounts/audit/audit.ts";
import { MailOutbox } from "./mail-outbox.ts";
import { MailSender } from "./mail-sender.ts";
import type { MailSettings } from "./settings.ts";

const databases = useDatabases();
let cleanup = new AsyncDisposableStack();
afterEach(async () => {
  await cleanup.disposeAsync();
  cleanup = new AsyncDisposableStack();
});

test.each(DATABASE_KINDS)("the queue on %s has the token of an invite until the e-mail is sent", async (kind) => {
  const smtp = cleanup.use(await startSmtpReceiver());
  const options = await databases.create(kind);
  const { logger } = options;
  const database = openDatabase(options);
  cleanup.defer(() => database.close());
  const outbox = new MailOutbox();
  const mail = { outbox, publicUrl: "https://ai.example.com" };
  const accounts = new Accounts({ database, logger, extensions: accountExtensions(), mail });
  cleanup.defer(() => accounts.close());
  await accounts.ensureBootstrapKeys({ apiKey: undefined, adminKey: undefined });
  const { organizationId } = await accounts.defaultScope("admin");
  const wanted = { organizationId, email: "ada@example.com", role: "reader", projects: [] } as const;
  const { token } = await accounts.invites.create(OPERATOR, { ...wanted, expiresInSeconds: undefined });
  const queued = () => database.run((executor) => executor.selectFrom("mailDeliveries").select("body").execute());
  expect((await queued())[0]?.body).toContain(token.reveal());
  const connection = { host: "127.0.0.1", port: smtp.port, security: "none" };
  const settings = { ...connection, from: "Parlance <parlance@example.com>" } as MailSettings;
  const sender = new MailSender({ settings, database, outbox, logger, onAttempt: () => {} });
  cleanup.defer(() => sender.close());
  await sender.send();
  expect(smtp.received).toHaveLength(1);
  expect(await queued()).toEqual([]);
});
