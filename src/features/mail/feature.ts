import type { BaseParts } from "../feature.ts";
import { MailOutbox } from "./mail-outbox.ts";
import { MailSender } from "./mail-sender.ts";

/** Where features add e-mails, and the address of the service in them. */
export interface OpenMail {
  outbox: MailOutbox;
  /** Undefined: not configured. */
  publicUrl: string | undefined;
}

/** Opens the outbox of e-mails and sends them; undefined: no SMTP server is configured. */
export function openMail({ config, database, logger, lifetime, metrics }: BaseParts): OpenMail | undefined {
  const { mail: settings, signOn } = config;
  if (settings === undefined) return undefined;
  const outbox = new MailOutbox();
  const onAttempt = (type: string, outcome: string) => metrics.mail(type, outcome);
  const sender = new MailSender({ settings, database, outbox, logger, onAttempt });
  lifetime.defer(() => sender.close());
  return { outbox, publicUrl: settings.publicUrl ?? signOn.publicUrl };
}
