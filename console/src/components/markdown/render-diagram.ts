/** Asks the thread that draws diagrams, one after the other. */

import { t } from "../../i18n/translate.ts";
import { MAX_SOURCE_CHARACTERS, TIMEOUT_MS } from "./diagram-limits.ts";
import type { DiagramAnswer, DiagramRequest } from "./diagram-worker.ts";

export type Diagram = Extract<DiagramAnswer, { svg: string }>;

let worker: Worker | undefined;
let lastId = 0;
let queue: Promise<unknown> = Promise.resolve();

/** Throws an Error for a text that is not a diagram, or that takes too long to draw. */
export function renderDiagram(request: Omit<DiagramRequest, "id">): Promise<Diagram> {
  const drawn = queue.then(() => draw(request));
  queue = drawn.catch(() => {});
  return drawn;
}

async function draw(request: Omit<DiagramRequest, "id">): Promise<Diagram> {
  if (request.source.length > MAX_SOURCE_CHARACTERS) throw new Error(t("it is too large."));
  worker ??= new Worker(new URL("./diagram-worker.ts", import.meta.url), { type: "module" });
  lastId += 1;
  const id = lastId;
  const { promise, resolve, reject } = Promise.withResolvers<Diagram>();
  const timer = setTimeout(() => {
    worker?.terminate();
    worker = undefined;
    reject(new Error(t("it is too large.")));
  }, TIMEOUT_MS);
  worker.onmessage = ({ data }: MessageEvent<DiagramAnswer>) => {
    if (data.id !== id) return;
    if ("error" in data) reject(new Error(data.error));
    else resolve(data);
  };
  worker.onerror = ({ message }) => {
    // One whose code could not be loaded answers nothing; the next diagram starts another.
    worker?.terminate();
    worker = undefined;
    reject(new Error(message));
  };
  worker.postMessage({ ...request, id } satisfies DiagramRequest);
  return promise.finally(() => clearTimeout(timer));
}
