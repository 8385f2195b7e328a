import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Metrics } from "../../observability/metrics.ts";
import type { Database } from "../../storage/database.ts";
import { type LinkMail, MailOutbox } from "./mail-outbox.ts";
import { mailMetrics } from "./metrics.ts";

/** Where features add e-mails, and the address of the service in them. */
export interface OpenMail {
  outbox: MailOutbox;
  /** Undefined: not configured. */
  publicUrl: string | undefined;
}

/** Undefined without an address of the console, to which links lead. */
export function linkMailOf(mail: OpenMail | undefined): LinkMail | undefined {
  if (mail?.publicUrl === undefined) return undefined;
  return { outbox: mail.outbox, publicUrl: mail.publicUrl };
}

/** The outbox of e-mails, without what sends them; undefined: no SMTP server is configured. */
export function mailIn({ mail, signOn }: Pick<Settings, "mail" | "signOn">): OpenMail | undefined {
  return mail && { outbox: new MailOutbox(), publicUrl: mail.publicUrl ?? signOn.publicUrl };
}

interface MailParts {
  config: Settings;
  database: Database;
  logger: Logger;
  lifetime: AsyncDisposableStack;
  metrics: Metrics;
}

/** Opens the outbox of e-mails and sends them; undefined: no SMTP server is configured. */
export async function openMail(parts: MailParts): Promise<OpenMail | undefined> {
  const { config, database, logger, lifetime, metrics } = parts;
  const { mail: settings } = config;
  const mail = mailIn(config);
  if (settings === undefined || mail === undefined) return undefined;
  const { outbox } = mail;
  // Its client of SMTP is 0.6 MB of sources, which most installations never need.
  const { MailSender } = await import("./mail-sender.ts");
  const sender = new MailSender({ settings, database, outbox, logger, onAttempt: mailMetrics(metrics.registry) });
  lifetime.defer(() => sender.close());
  return mail;
}
