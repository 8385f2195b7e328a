/** Entry of the thread that searches vector stores, which keeps comparisons off the event loop. */

import { parentPort } from "node:worker_threads";
import { lowerPriority } from "../../../kernel/process/lower-priority.ts";
import type { Attributes } from "../../../wire/openai/attribute-filters.ts";
import { type IndexMatch, type IndexQuery, StoreIndex } from "./store-index.ts";

export type IndexCommand =
  | { type: "add"; store: string; addition: string; position: number; bytes: Uint8Array }
  | { type: "attributes"; store: string; addition: string; attributes: Attributes }
  | { type: "remove"; store: string; addition: string }
  | { type: "drop"; store: string }
  | { type: "search"; store: string; id: number; query: IndexQuery };

export interface IndexAnswer {
  id: number;
  matches?: IndexMatch[];
  /** Why the search failed. */
  error?: string;
  memoryBytes: number;
  isSparse: boolean;
}

const indexes = new Map<string, StoreIndex>();
/** Why the index of a store cannot be searched. */
const failures = new Map<string, string>();

lowerPriority();
parentPort?.on("message", (command: IndexCommand) => {
  if (command.type === "search") parentPort?.postMessage(search(command));
  else change(command);
});

function change(command: Exclude<IndexCommand, { type: "search" }>): void {
  const { store } = command;
  if (command.type === "drop") {
    indexes.delete(store);
    failures.delete(store);
    return;
  }
  const index = indexes.get(store) ?? new StoreIndex();
  indexes.set(store, index);
  try {
    if (command.type === "add") index.addSegment(command.addition, command.position, command.bytes);
    else if (command.type === "attributes") index.setAttributes(command.addition, command.attributes);
    else index.removeFile(command.addition);
  } catch (error) {
    failures.set(store, String(error));
  }
}

function search({ store, id, query }: IndexCommand & { type: "search" }): IndexAnswer {
  const index = indexes.get(store);
  const state = { id, memoryBytes: index?.memoryBytes ?? 0, isSparse: index?.isSparse ?? false };
  const failure = failures.get(store);
  if (failure !== undefined) return { ...state, error: failure };
  try {
    return { ...state, matches: index?.search(query) ?? [] };
  } catch (error) {
    return { ...state, error: String(error) };
  }
}
