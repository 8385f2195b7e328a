/** Stream events of background responses, which every replica can replay. */

import { mapInSlices } from "../../kernel/async/map-in-slices.ts";
import type { Database } from "../../storage/database.ts";
import type { ProjectResource } from "../../storage/project-resource.ts";
import type { SealedRows } from "./sealed-rows.ts";
import { insertResponseEvents, listResponseEvents, updateRunningResponse } from "./stored-response-queries.ts";

/** Event of a response's stream, as the API shows it. */
export interface StreamEvent {
  type: string;
  sequence_number: number;
  [field: string]: unknown;
}

export class EventLog {
  readonly #database: Database;
  readonly #rows: SealedRows;

  constructor(database: Database, rows: SealedRows) {
    this.#database = database;
    this.#rows = rows;
  }

  /**
   * Appends events of a running response, possibly none, and shows that it still runs. Returns false when it was
   * cancelled or deleted.
   */
  async append(resource: ProjectResource, status: string, events: readonly StreamEvent[]): Promise<boolean> {
    return this.#database.transaction(async (executor) => {
      if (!(await updateRunningResponse(executor, resource, { status, usedAt: Date.now() }))) return false;
      await this.insert(executor, resource, events);
      return true;
    });
  }

  async insert(
    executor: Parameters<typeof insertResponseEvents>[0],
    { projectId, id }: ProjectResource,
    events: readonly StreamEvent[],
  ): Promise<void> {
    const [first] = events;
    if (first === undefined) return;
    const content = this.#rows.seal({ table: "events", projectId, id }, events);
    await insertResponseEvents(executor, { responseId: id, firstSequence: first.sequence_number, content });
  }

  /** Returns the events from the sequence number `from`. */
  async read({ projectId, id }: ProjectResource, from: number): Promise<StreamEvent[]> {
    const rows = await this.#database.run((executor) => listResponseEvents(executor, id, from));
    const events = await mapInSlices(rows, ({ content }) =>
      this.#rows.open<StreamEvent[]>({ table: "events", projectId, id }, content),
    );
    return events.flat().filter(({ sequence_number }) => sequence_number >= from);
  }
}
