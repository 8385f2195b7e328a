/** Everything that the Responses API stores. */

import type { Keyring } from "../encryption/keyring.ts";
import type { Logger } from "../observability/logger.ts";
import type { Database } from "../storage/database.ts";
import { BackgroundResponses } from "./background-responses.ts";
import { ConversationStore } from "./conversation-store.ts";
import { EventLog } from "./event-log.ts";
import { ResponseRetention } from "./response-retention.ts";
import { type NewResponse, ResponseStore } from "./response-store.ts";
import { SealedRows } from "./sealed-rows.ts";

export interface ResponseStorageOptions {
  database: Database;
  keyring: Keyring;
  logger: Logger;
  /** Days to keep content after its last use. */
  keepDays: number;
  /** Maximum bytes of the stored items that one response continues from. */
  maxContextBytes: number;
}

export class ResponseStorage {
  readonly responses: ResponseStore;
  readonly conversations: ConversationStore;
  readonly background: BackgroundResponses;
  readonly #retention: ResponseRetention;
  readonly #logger: Logger;

  constructor({ database, keyring, logger, keepDays, maxContextBytes }: ResponseStorageOptions) {
    this.#logger = logger;
    const rows = new SealedRows(keyring, logger);
    const events = new EventLog(database, rows);
    this.responses = new ResponseStore({ database, rows, events, maxContextBytes });
    this.conversations = new ConversationStore({ database, rows, responses: this.responses });
    this.background = new BackgroundResponses({ responses: this.responses, events, logger });
    this.#retention = new ResponseRetention({ database, logger, keepDays });
  }

  /**
   * Stores a complete response, or with `isKept: false` only its items in its conversation. Returns false, and logs why,
   * when the database refuses: the client still gets its answer, which then says that it is not stored.
   */
  async save(response: NewResponse, isKept: boolean): Promise<boolean> {
    try {
      if (isKept) await this.responses.insert(response);
      else if (response.conversationId !== undefined) await this.responses.insertItemsOnly(response);
      return isKept;
    } catch (error) {
      this.#logger.error({ err: error }, "response not stored");
      return false;
    }
  }

  /** Waits for background responses, which the caller has aborted. Does not close the database. */
  async close(): Promise<void> {
    this.#retention.close();
    await this.background.close();
  }
}
