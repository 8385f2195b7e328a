/** Adds one file to a vector store. A run that was interrupted continues after the chunks that are stored. */

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Caller } from "../../contracts/caller.ts";
import type { Inference } from "../../inference/inference.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import { Fault } from "../../kernel/faults.ts";
import type { JobEnd } from "../../kernel/jobs/job-runner.ts";
import type { Database } from "../../storage/database.ts";
import { lockProject } from "../accounts/index.ts";
import type { DocumentTexts, FileStore } from "../files/index.ts";
import { embedTexts } from "./embed-texts.ts";
import type { VectorStoreSettings } from "./settings.ts";
import { type ClaimedFile, countSegments, insertSegment, updateOwnedFile } from "./store-file-queries.ts";
import type { StoredSegments } from "./stored-segments.ts";
import { ensureDimensions, findVectorStore, increaseVersion, sumOfProject } from "./vector-store-queries.ts";
import type { VectorStoreRow } from "./vector-store-rows.ts";

export interface IngestOptions extends Pick<VectorStoreSettings, "maxVectorsPerProject" | "maxSizePerProject"> {
  database: Database;
  files: Pick<FileStore, "readStored">;
  segments: StoredSegments;
  inference: Pick<Inference, "embed">;
  documents: DocumentTexts;
  /** Caller of a file's key; undefined when the key no longer works. */
  callerOf: (keyId: string) => Promise<Caller | undefined>;
}

/** Chunks of a segment: embedding them takes about a second of one core. */
const SEGMENT_CHUNKS = 16;

/** Throws a DocumentError or a Fault when the file cannot be added. */
export async function runIngest(file: ClaimedFile, options: IngestOptions, signal: AbortSignal): Promise<JobEnd> {
  const { database, files, documents } = options;
  const resource = { projectId: file.projectId, id: file.vectorStoreId };
  const store = await database.run((executor) => findVectorStore(executor, resource));
  // The store was deleted, and its files with it.
  if (store === undefined) return "over";
  await requireCaller(file, options);
  const stored = await database.run((executor) => countSegments(executor, file.additionId));
  const chunking = { maxTokens: file.maxTokens, overlapTokens: file.overlapTokens };
  const open = async function* () {
    yield* await files.readStored(file.id);
  };
  let position = 0;
  let texts: string[] = [];
  const storeTexts = async () => {
    if (position >= stored.segments) {
      const isOwned = await addSegment({ file, store, position, texts }, options, signal);
      if (!isOwned) return false;
    }
    position += 1;
    texts = [];
    await nextTurn();
    return true;
  };
  for await (const { text } of documents.read(open, { filename: file.filename, chunking }, signal)) {
    texts.push(text);
    if (texts.length === SEGMENT_CHUNKS && !(await storeTexts())) return "over";
  }
  if (texts.length > 0 && !(await storeTexts())) return "over";
  await database.transaction(async (executor) => {
    const isOwned = await updateOwnedFile(executor, file, { status: "completed" });
    if (isOwned) await increaseVersion(executor, file.vectorStoreId);
  });
  return "over";
}

interface NewContent {
  file: ClaimedFile;
  store: VectorStoreRow;
  position: number;
  texts: readonly string[];
}

/** Returns false when the file has ended or has another run. */
async function addSegment(
  { file, store, position, texts }: NewContent,
  { database, segments, inference, callerOf, ...limits }: IngestOptions,
  signal: AbortSignal,
): Promise<boolean> {
  // A large file takes hours, in which the key may end and its policies change.
  const caller = await requireCaller(file, { callerOf });
  const { vectorStoreId, additionId, projectId } = file;
  const embedded = await embedTexts(inference, caller, { model: store.embeddingModel, texts }, leaveWith(signal));
  signal.throwIfAborted();
  const { values: vectors, dimensions } = embedded;
  const row = segments.seal({ vectorStoreId, additionId, position, texts, vectors, dimensions });
  const bytes = row.vectors.length + row.texts.length;
  const change = { chunks: file.chunks + texts.length, usageBytes: file.usageBytes + bytes, attempts: 0 };
  const isStored = await database.transaction(async (executor) => {
    // Without it, two files at the same time would not see each other.
    await lockProject(executor, projectId);
    const expected = await ensureDimensions(executor, vectorStoreId, dimensions);
    if (expected !== dimensions) throw otherDimensions(store, expected, dimensions);
    const sum = await sumOfProject(executor, projectId);
    checkRoom({ chunks: sum.chunks + texts.length, bytes: sum.bytes + bytes }, limits);
    if (!(await updateOwnedFile(executor, file, change))) return false;
    await insertSegment(executor, row);
    return true;
  });
  if (isStored) Object.assign(file, change);
  return isStored;
}

/** Throws a Fault when the key that added a file has ended. */
async function requireCaller({ keyId }: ClaimedFile, { callerOf }: Pick<IngestOptions, "callerOf">): Promise<Caller> {
  const caller = await callerOf(keyId);
  if (caller !== undefined) return caller;
  throw new Fault("forbidden", "The key that added the file no longer works. Add it again.");
}

/** Throws a Fault above the limits of a project. */
function checkRoom(
  { chunks, bytes }: { chunks: number; bytes: number },
  { maxVectorsPerProject, maxSizePerProject }: Pick<IngestOptions, "maxVectorsPerProject" | "maxSizePerProject">,
): void {
  const exceeded =
    chunks > maxVectorsPerProject
      ? `${maxVectorsPerProject} chunks, the limit of vector_stores.max_vectors_per_project`
      : bytes > maxSizePerProject
        ? `${maxSizePerProject} bytes, the limit of vector_stores.max_size_per_project`
        : undefined;
  if (exceeded === undefined) return;
  const message = `The vector stores of this project would have more than ${exceeded}. Delete stores or files, or ask the operator to raise it.`;
  throw new Fault("quota-exhausted", message, { code: "insufficient_quota", isFinal: true });
}

function otherDimensions({ embeddingModel }: VectorStoreRow, expected: number, actual: number): Fault {
  const message = `The model '${embeddingModel}' now returns vectors of ${actual} dimensions; those of the store have ${expected}. Create another store.`;
  return new Fault("invalid-request", message);
}

/** Ends a run when the signal aborts. */
function leaveWith(signal: AbortSignal): OnDisconnect {
  return (leave) => {
    if (signal.aborted) return leave();
    // A signal for this run only: listeners on that of a file would keep every run until its end.
    AbortSignal.any([signal]).addEventListener("abort", () => leave(), { once: true });
  };
}
