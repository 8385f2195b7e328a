/** Sends what is in the outbox over SMTP. Each e-mail is a job, which any replica runs. */

import { createTransport, type Transporter } from "nodemailer";
import { type Backoff, backoffDelay } from "../../kernel/async/backoff.ts";
import { DAY_MS, HOUR_SECONDS } from "../../kernel/durations.ts";
import { type JobEnd, JobRunner } from "../../kernel/jobs/job-runner.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { LeasedRows } from "../../storage/leased-rows.ts";
import type { MailOutbox } from "./mail-outbox.ts";
import { deleteMailDelivery, removeMailDeliveriesBefore } from "./mail-queries.ts";
import type { MailDeliveryRow } from "./mail-rows.ts";
import { type MailSettings, portOf } from "./settings.ts";

export type MailOutcome = "delivered" | "retried" | "dropped";

export interface MailSenderOptions {
  settings: MailSettings;
  database: Database;
  outbox: MailOutbox;
  logger: Logger;
  onAttempt: (type: string, outcome: MailOutcome) => void;
  /** In seconds. */
  backoff?: Backoff;
}

/** Adds up to 18 hours with the backoff below. */
const MAX_ATTEMPTS = 16;
const BACKOFF_SECONDS: Backoff = { initial: 5, max: 4 * HOUR_SECONDS, jitter: [0.8, 1.2] };
const CONNECTION_TIMEOUT_MS = 10_000;
const ANSWER_TIMEOUT_MS = 20_000;
/** Renewed while an attempt runs; e-mails of a killed process are sent after this. */
const LEASE_MS = 15_000;
const MAILS_AT_ONCE = 5;
const POLL_MS = 2_000;
/** Lets the transaction of a new e-mail commit. */
const WAKE_MS = 50;
const KEEP_MS = 7 * DAY_MS;
/** Replies of 500 and above are permanent failures (RFC 5321, section 4.2.1). */
const PERMANENT = 500;
/** A wrong password, or a client that must authenticate first: the operator can repair it. */
const AUTHENTICATION: ReadonlySet<number> = new Set([530, 534, 535, 538]);

export class MailSender {
  readonly #options: MailSenderOptions;
  readonly #transport: Transporter;
  readonly #runner: JobRunner<MailDeliveryRow>;
  readonly #retention: Retention;

  constructor(options: MailSenderOptions) {
    this.#options = options;
    this.#transport = openTransport(options.settings);
    const { database, logger, outbox } = options;
    const backoff = options.backoff ?? BACKOFF_SECONDS;
    this.#runner = new JobRunner<MailDeliveryRow>({
      subject: "e-mails",
      logger,
      concurrency: MAILS_AT_ONCE,
      leaseMs: LEASE_MS,
      pollMs: POLL_MS,
      retryDelayMs: ({ attempts }) => Math.round(backoffDelay(attempts, backoff) * 1000),
      run: (mail, signal) => this.#attempt(mail, signal),
      store: new LeasedRows(database, { table: "mailDeliveries", key: "id", owner: { count: "attempts" } }),
    });
    outbox.onAdded(() => this.#runner.wake(WAKE_MS));
    const removeOld = (time: number) =>
      database.run((executor) => removeMailDeliveriesBefore(executor, time - KEEP_MS));
    this.#retention = new Retention({ subject: "e-mails", logger, steps: [removeOld] });
  }

  /** Attempts every e-mail that is due. */
  async send(): Promise<void> {
    await this.#runner.runDue();
  }

  /** Aborts running attempts; another process, or this one after its restart, repeats them. */
  async close(): Promise<void> {
    this.#retention[Symbol.dispose]();
    this.#transport.close();
    await this.#runner.close();
  }

  async #attempt(mail: MailDeliveryRow, signal: AbortSignal): Promise<JobEnd> {
    const { database, logger, onAttempt } = this.#options;
    const { id, type, attempts } = mail;
    const failure = await this.#send(mail, signal).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (signal.aborted && failure !== undefined) return "interrupted";
    const isOver = isPermanent(failure) || attempts >= MAX_ATTEMPTS;
    const outcome = failure === undefined ? "delivered" : isOver ? "dropped" : "retried";
    onAttempt(type, outcome);
    // Answers of servers contain addresses, which do not belong into the log.
    const reason = failure === undefined ? undefined : describe(failure);
    if (outcome === "retried") {
      logger.warn({ mail: id, type, attempts, reason }, "e-mail failed; it is sent again");
      return "retry";
    }
    await database.run((executor) => deleteMailDelivery(executor, id));
    if (outcome === "dropped") logger.error({ mail: id, type, attempts, reason }, "e-mail dropped");
    return "over";
  }

  async #send({ id, recipient, subject, body }: MailDeliveryRow, signal: AbortSignal): Promise<void> {
    const { from } = this.#options.settings;
    const domain = /@([^\s@>]+)>?$/.exec(from)?.[1] ?? "localhost";
    const sending = this.#transport.sendMail({
      from,
      to: { name: "", address: recipient },
      subject,
      text: body,
      // The same for each attempt, by which receivers recognize a repetition.
      messageId: `<${id}@${domain}>`,
      headers: { "Auto-Submitted": "auto-generated" },
    });
    const aborted = Promise.withResolvers<never>();
    const abort = () => aborted.reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      await Promise.race([sending, aborted.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
      // One that the abort has overtaken fails later.
      sending.catch(() => {});
    }
  }
}

function openTransport(settings: MailSettings): Transporter {
  const { host, security, user, password } = settings;
  return createTransport({
    host,
    port: portOf(settings),
    secure: security === "tls",
    requireTLS: security === "starttls",
    ignoreTLS: security === "none",
    ...(user !== undefined && { auth: { user, pass: password?.reveal() ?? "" } }),
    connectionTimeout: CONNECTION_TIMEOUT_MS,
    greetingTimeout: CONNECTION_TIMEOUT_MS,
    socketTimeout: ANSWER_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

function isPermanent(failure: unknown): boolean {
  const code = replyCode(failure);
  return code !== undefined && code >= PERMANENT && !AUTHENTICATION.has(code);
}

function replyCode(failure: unknown): number | undefined {
  const code = failure instanceof Error && "responseCode" in failure ? failure.responseCode : undefined;
  return typeof code === "number" ? code : undefined;
}

function describe(failure: unknown): string {
  const code = failure instanceof Error && "code" in failure ? String(failure.code) : "failed";
  const reply = replyCode(failure);
  return reply === undefined ? code : `${code}, reply ${reply}`;
}
