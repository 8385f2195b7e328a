/** Feedback about requests: a score, a comment and tags. */

import type { Caller } from "../../contracts/caller.ts";
import type { RequestEntry } from "../../http/request-entry.ts";
import { DAY_MS } from "../../kernel/durations.ts";
import type { Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import type { Feedback } from "../../wire/openai/organization/organization-request-content.ts";
import { listFeedback, putFeedback, removeFeedbackBefore } from "./feedback-queries.ts";
import type { RequestFeedbackRow } from "./feedback-rows.ts";
import { openComment, sealComment } from "./sealed-comment.ts";

export interface NewFeedback {
  score: number | null;
  comment: string | null;
  tags: readonly string[];
}

const REMOVED_AT_ONCE = 200;

export class RequestFeedbacks {
  readonly #database: Database;
  /** Undefined: there is no key to encrypt comments. */
  readonly #keyring: Keyring | undefined;

  constructor(database: Database, keyring: Keyring | undefined) {
    this.#database = database;
    this.#keyring = keyring;
  }

  /** Replaces what the same key, or user in a session, has said before. Throws a Fault. */
  async put(entry: RequestEntry, author: Caller, { score, comment, tags }: NewFeedback): Promise<Feedback> {
    const now = Date.now();
    const row: RequestFeedbackRow = {
      id: newId("feedback_"),
      requestId: entry.id,
      organizationId: entry.organizationId,
      projectId: entry.projectId,
      keyId: author.keyId,
      userId: author.userId ?? null,
      score,
      tags: JSON.stringify(tags),
      comment: comment === null ? null : this.#seal(entry.id, comment),
      prompt: entry.details?.prompt ?? null,
      createdAt: now,
      updatedAt: now,
    };
    return this.#toFeedback(await this.#database.run((executor) => putFeedback(executor, row)));
  }

  /** Lists feedback of requests, oldest first. */
  async list(organizationId: string, requestIds: readonly string[]): Promise<Feedback[]> {
    const rows = await this.#database.run((executor) => listFeedback(executor, organizationId, requestIds));
    return rows.map((row) => this.#toFeedback(row));
  }

  #seal(requestId: string, comment: string): Buffer {
    if (this.#keyring !== undefined) return sealComment(this.#keyring, requestId, comment);
    const message =
      "Comments are stored encrypted, and this service has no encryption key. Leave the comment out, or set PARLANCE_ENCRYPTION_KEY.";
    throw new Fault("invalid-request", message, { param: "comment", code: "storage_disabled" });
  }

  #toFeedback({ comment, tags, ...row }: RequestFeedbackRow): Feedback {
    const text = comment === null ? null : openComment(this.#keyring, row.requestId, comment);
    return { ...row, tags: JSON.parse(tags), comment: text };
  }
}

/** Removes feedback with its request: after the days of the history, or with the content that is kept longer. */
export function feedbackRetention(database: Database, logger: Logger, days: number): Retention {
  const remove = (now: number) =>
    database.run((executor) => removeFeedbackBefore(executor, now - Math.max(1, days) * DAY_MS, REMOVED_AT_ONCE));
  return new Retention({ subject: "feedback", logger, steps: [remove] });
}
