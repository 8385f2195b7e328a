/** Stores e-mails in the transaction of what they report, one row per recipient. */

import { newId } from "../../kernel/id.ts";
import type { Executor } from "../../storage/database.ts";
import { insertMailDeliveries } from "./mail-queries.ts";

export interface Mail {
  /** Occasion, for the log and metrics. */
  type: string;
  organizationId: string;
  recipients: readonly string[];
  subject: string;
  /** Plain text. */
  body: string;
}

/** The outbox, for e-mails with links to the console. */
export interface LinkMail {
  outbox: Pick<MailOutbox, "add">;
  /** Address of the console. */
  publicUrl: string;
}

export class MailOutbox {
  #onAdded: () => void = () => {};

  /** Calls `listener` after each addition, whose transaction may not be committed yet. */
  onAdded(listener: () => void): void {
    this.#onAdded = listener;
  }

  async add(executor: Executor, { type, organizationId, recipients, subject, body }: Mail, now: number): Promise<void> {
    if (recipients.length === 0) return;
    const mail = { type, organizationId, subject, body, createdAt: now, attempts: 0, dueAt: now };
    await insertMailDeliveries(
      executor,
      recipients.map((recipient) => ({ ...mail, id: newId("mail_"), recipient })),
    );
    this.#onAdded();
  }
}
