/** Runs in a worker thread: reads an OpenAPI document, which takes seconds for one of megabytes in YAML. */

import { parentPort, workerData } from "node:worker_threads";
import { lowerPriority } from "../../../kernel/process/lower-priority.ts";
import type { ApiDescription } from "./api-description.ts";
import { readDocument } from "./read-document.ts";

export type DocumentAnswer = { description: ApiDescription } | { problem: string };

lowerPriority();

async function answer(): Promise<DocumentAnswer> {
  try {
    return { description: await readDocument(new TextDecoder().decode(workerData as Uint8Array)) };
  } catch (failure) {
    return { problem: failure instanceof Error ? failure.message.slice(0, 300) : "it cannot be read" };
  }
}

parentPort?.postMessage(await answer());
