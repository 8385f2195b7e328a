/** Responses that are not stored, in the memory of this process, for requests that continue them on their connection. */

import { LRUCache } from "lru-cache";

export interface UnstoredResponse {
  id: string;
  /**
   * Items of its input, of what it continues, and of its output: the JSON of a list without its brackets. A request that
   * continues it costs a copy of the bytes, however many megabytes they are.
   */
  items: Buffer;
  /** Stored response that the items continue, as its client named it. */
  previousId: unknown;
}

/** All connections together; the ones not used for longest leave first. A coding agent's context has some megabytes. */
const MAX_BYTES = 128 * 1024 ** 2;
const MAX_RESPONSE_BYTES = 32 * 1024 ** 2;
const ENTRY_BYTES = 1000;

export class UnstoredResponses {
  readonly #responses = new LRUCache<string, UnstoredResponse>({
    maxSize: MAX_BYTES,
    maxEntrySize: MAX_RESPONSE_BYTES,
    sizeCalculation: ({ items }) => items.length + ENTRY_BYTES,
  });
  #connections = 0;

  /** Returns the responses of a new connection: the latest one of each of its lanes. */
  open(): ConnectionResponses {
    this.#connections += 1;
    return new ConnectionResponses(this.#responses, String(this.#connections));
  }
}

export class ConnectionResponses {
  readonly #responses: LRUCache<string, UnstoredResponse>;
  readonly #connection: string;
  readonly #lanes = new Map<string, string>();

  constructor(responses: LRUCache<string, UnstoredResponse>, connection: string) {
    this.#responses = responses;
    this.#connection = connection;
  }

  find(id: string): UnstoredResponse | undefined {
    const lane = [...this.#lanes].find(([, latest]) => latest === id)?.[0];
    return lane === undefined ? undefined : this.#responses.get(this.#keyOf(lane));
  }

  /** Replaces the response that the lane had. */
  keep(lane: string, response: UnstoredResponse): void {
    this.#lanes.set(lane, response.id);
    this.#responses.set(this.#keyOf(lane), response);
  }

  clear(): void {
    for (const lane of this.#lanes.keys()) this.#responses.delete(this.#keyOf(lane));
    this.#lanes.clear();
  }

  #keyOf(lane: string): string {
    return `${this.#connection} ${lane}`;
  }
}
