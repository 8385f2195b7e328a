import { Fault } from "../../kernel/faults.ts";
import type { BatchError } from "../../wire/openai/batches.ts";
import type { FileStore } from "../files/index.ts";

/** Returns why a project begins no batch: others may have stored their results since this one was created. */
export async function roomErrors(files: Pick<FileStore, "checkRoom">, projectId: string): Promise<BatchError[]> {
  try {
    await files.checkRoom(projectId, 0);
    return [];
  } catch (failure) {
    if (!(failure instanceof Fault) || failure.kind !== "quota-exhausted") throw failure;
    return [{ code: "insufficient_quota", message: failure.message, param: null, line: null }];
  }
}
