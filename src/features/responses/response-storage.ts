/** Everything that the Responses API stores. */

import type { Keyring } from "../../kernel/encryption/keyring.ts";
import { Fault } from "../../kernel/faults.ts";
import { Poll } from "../../kernel/jobs/poll.ts";
import type { Retention } from "../../kernel/jobs/retention.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database } from "../../storage/database.ts";
import { StoredBytes } from "../../storage/stored-bytes.ts";
import type { WebhookOutbox } from "../webhooks/index.ts";
import { BackgroundResponses } from "./background-responses.ts";
import { RESPONSE_SIZES } from "./content-sizes.ts";
import { ConversationStore } from "./conversation-store.ts";
import { EventLog } from "./event-log.ts";
import { responseRetention } from "./response-retention.ts";
import { type NewResponse, ResponseStore } from "./response-store.ts";
import { SealedRows } from "./sealed-rows.ts";
import { SealedSummaries } from "./sealed-summaries.ts";
import type { ResponseSettings } from "./settings.ts";
import { StoredItems } from "./stored-items.ts";

/** How often responses of processes that died are looked for. */
const DEATHS_MS = 30_000;

export interface ResponseStorageOptions extends Pick<ResponseSettings, "keepDays" | "maxSizePerProject"> {
  database: Database;
  keyring: Keyring;
  logger: Logger;
  /** Maximum bytes of the stored items that one response continues from. */
  maxContextBytes: number;
  /** Takes the events of background responses. */
  outbox: Pick<WebhookOutbox, "add">;
}

export class ResponseStorage {
  readonly responses: ResponseStore;
  readonly items: StoredItems;
  readonly conversations: ConversationStore;
  readonly background: BackgroundResponses;
  readonly summaries: SealedSummaries;
  readonly #retention: Retention;
  readonly #deaths: Poll;
  readonly #logger: Logger;
  readonly #storedBytes: StoredBytes;

  constructor({
    database,
    keyring,
    logger,
    keepDays,
    maxContextBytes,
    maxSizePerProject,
    outbox,
  }: ResponseStorageOptions) {
    this.#logger = logger;
    this.summaries = new SealedSummaries(keyring);
    const texts = {
      subject: "responses and conversations",
      wayOut: "Delete some, send `store: false`",
      setting: "responses.max_size_per_project",
    };
    const storedBytes = new StoredBytes({ database, logger, sizes: RESPONSE_SIZES, maxSizePerProject, texts });
    this.#storedBytes = storedBytes;
    const rows = new SealedRows(keyring, logger, (projectId, bytes) => storedBytes.add(projectId, bytes));
    const events = new EventLog(database, rows);
    this.items = new StoredItems({ database, rows, maxContextBytes });
    this.responses = new ResponseStore({ database, rows, events, items: this.items, storedBytes, outbox });
    this.conversations = new ConversationStore({ database, rows, items: this.items, storedBytes });
    this.background = new BackgroundResponses({ responses: this.responses, events, logger });
    this.#retention = responseRetention({ database, logger, keepDays });
    const onFailure = (err: unknown) => logger.warn({ err }, "responses of dead processes not ended yet");
    this.#deaths = new Poll(() => this.responses.endDead(), { everyMs: DEATHS_MS, jitter: 0.2, onFailure });
  }

  /**
   * Stores a complete response, or with `isKept: false` only its items in its conversation. Returns false, and logs why,
   * when the database refuses or the project has reached its limit: the client still gets its answer, which then says
   * that it is not stored.
   */
  async save(response: NewResponse, isKept: boolean): Promise<boolean> {
    try {
      if (isKept) await this.responses.insert(response);
      else if (response.conversationId !== undefined) await this.responses.insertItemsOnly(response);
      return isKept;
    } catch (error) {
      if (error instanceof Fault && error.kind === "quota-exhausted") return false;
      this.#logger.error({ err: error }, "response not stored");
      return false;
    }
  }

  /** Counts deleted content and that of other replicas, at once rather than within an hour. */
  measureStoredBytes(): Promise<void> {
    return this.#storedBytes.measure();
  }

  /** Waits for background responses, which the caller has aborted. Does not close the database. */
  async close(): Promise<void> {
    this.#retention[Symbol.dispose]();
    this.#storedBytes.close();
    await this.#deaths.close();
    await this.background.close();
  }
}
