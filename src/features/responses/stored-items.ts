/** Reads the stored items that responses continue from or refer to, within limits. */

import { mapInSlices } from "../../kernel/async/map-in-slices.ts";
import { HOUR_MS } from "../../kernel/durations.ts";
import type { Database, Executor } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import { type ContextParam, checkContextSize, checkReferences } from "./context-limits.ts";
import { measureItems, readItemBytes, readItems, readRows } from "./item-queries.ts";
import { LargeReads } from "./large-reads.ts";
import { chainTooLong, notEnded, previousResponseNotFound } from "./response-faults.ts";
import type { SealedRows } from "./sealed-rows.ts";
import { findResponse, isRunningStatus, readChain, touchResponses } from "./stored-response-queries.ts";
import type { ResponseItemRow } from "./stored-response-rows.ts";

/** Item as the API shows it. */
export interface StoredItem {
  id: string;
  [field: string]: unknown;
}

export interface StoredItemsOptions {
  database: Database;
  rows: SealedRows;
  /** Maximum bytes of the stored items that one response continues from. */
  maxContextBytes: number;
}

/** Counts bytes that are about to be read. Throws a Fault when too many are in memory. */
export type HoldBytes = (bytes: number) => void;

/** Responses that one response can continue from. */
const MAX_CHAIN_LENGTH = 2000;
/** Continuing a response renews the retention of its chain, at most this often. */
const TOUCH_MS = HOUR_MS;
type Owner = Parameters<typeof measureItems>[1];

export class StoredItems {
  readonly #options: StoredItemsOptions;
  readonly #largeReads = new LargeReads();

  constructor(options: StoredItemsOptions) {
    this.#options = options;
  }

  /**
   * Returns the items of a response and of all that it continues, oldest first. Throws a Fault when one of them is
   * missing, because the answer would change, or still runs.
   */
  async readChain({ projectId, id }: ProjectResource, hold: HoldBytes): Promise<StoredItem[]> {
    const { database } = this.#options;
    const { ids, bytes } = await database.run(async (executor) => {
      const latest = await findResponse(executor, { projectId, id });
      if (latest !== undefined && isRunningStatus(latest.status)) throw notEnded(id);
      const chain = await readChain(executor, { projectId, id }, MAX_CHAIN_LENGTH + 1);
      if (chain.length > MAX_CHAIN_LENGTH) throw chainTooLong(MAX_CHAIN_LENGTH);
      const last = chain.at(-1);
      const missing = last === undefined ? id : last.previousResponseId;
      if (missing !== null) throw previousResponseNotFound(missing);
      const ids = chain.map((link) => link.id);
      const bytes = await this.#checkSize(executor, "responseId", ids, "previous_response_id");
      hold(bytes);
      const now = Date.now();
      const stale = chain.filter(({ usedAt }) => usedAt < now - TOUCH_MS).map((link) => link.id);
      await touchResponses(executor, stale, now);
      return { ids, bytes };
    });
    const order = new Map(ids.map((each, index) => [each, -index]));
    const rank = ({ responseId }: ResponseItemRow) => order.get(responseId ?? "") ?? 0;
    return this.#largeReads.run(projectId, bytes, async () => {
      const rows = await database.run((executor) => readItems(executor, "responseId", ids));
      return this.open(rows.sort((a, b) => rank(a) - rank(b) || a.position - b.position));
    });
  }

  /** Returns the items of a conversation, oldest first. Throws a Fault when there are too many. */
  async readConversation({ projectId, id }: ProjectResource, hold: HoldBytes): Promise<StoredItem[]> {
    const { database } = this.#options;
    const bytes = await database.run((executor) => this.#checkSize(executor, "conversationId", [id], "conversation"));
    hold(bytes);
    return this.#largeReads.run(projectId, bytes, async () =>
      this.open(await database.run((executor) => readItems(executor, "conversationId", [id]))),
    );
  }

  /**
   * Returns the items that a request refers to with `ids`; those of other projects are missing. Throws a Fault when they
   * are too many or too large, each counted as often as it is named.
   */
  async find(projectId: string, ids: readonly string[], hold: HoldBytes): Promise<Map<string, StoredItem>> {
    checkReferences(ids.length);
    const unique = [...new Set(ids)];
    const { database, maxContextBytes } = this.#options;
    const bytesOf = await database.run((executor) => readItemBytes(executor, projectId, unique));
    const bytes = ids.reduce((sum, id) => sum + (bytesOf.get(id) ?? 0), 0);
    checkContextSize({ count: ids.length, bytes }, maxContextBytes, "input");
    hold(bytes);
    const items = await this.#largeReads.run(projectId, bytes, async () =>
      this.open(await database.run((executor) => readRows(executor, projectId, unique))),
    );
    return new Map(items.map((item) => [item.id, item]));
  }

  /** Decrypts items, in slices: a conversation's take up to a second. */
  open(rows: readonly ResponseItemRow[]): Promise<StoredItem[]> {
    return mapInSlices(rows, ({ projectId, id, content }) =>
      this.#options.rows.open<StoredItem>({ table: "item", projectId, id }, content),
    );
  }

  /** Returns the bytes. Throws a Fault when they are too many. */
  async #checkSize(executor: Executor, owner: Owner, ids: readonly string[], param: ContextParam): Promise<number> {
    const measured = await measureItems(executor, owner, ids);
    checkContextSize(measured, this.#options.maxContextBytes, param);
    return measured.bytes;
  }
}
