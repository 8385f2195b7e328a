/** The open recording with its transcript in the browser's database, which a reload of the page does not lose. */

import type { Studio } from "./studio-store.ts";

/** What is stored. `owner`: who is signed in, and in which project. */
export interface StoredStudio extends Pick<Studio, "recording" | "transcript" | "names"> {
  owner: string;
}

// untranslated: names of the browser's storage
const DATABASE = "parlance-studio";
const STORE = "studio";
const KEY = "open";

/** Resolves with undefined where nothing is stored, or storage is disabled. */
export async function readStudio(): Promise<StoredStudio | undefined> {
  return inStore("readonly", (store) => store.get(KEY)).catch(() => undefined);
}

export async function writeStudio(studio: StoredStudio): Promise<void> {
  // Where storage is disabled or full, the transcript lasts until the page is closed.
  await inStore("readwrite", (store) => store.put(studio, KEY)).catch(() => undefined);
}

/** Removes the recording and the transcript, when they are closed and at the sign-out. */
export async function forgetStudio(): Promise<void> {
  await inStore("readwrite", (store) => store.delete(KEY)).catch(() => undefined);
}

async function inStore<Result>(
  mode: IDBTransactionMode,
  run: (store: IDBObjectStore) => IDBRequest<Result>,
): Promise<Result> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await resultOf(opening);
  try {
    return await resultOf(run(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function resultOf<Result>(request: IDBRequest<Result>): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
  return promise;
}
