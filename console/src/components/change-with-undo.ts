import type { QueryKey } from "@tanstack/react-query";
import { queryClient } from "../api/query-client.ts";
import { notifyFailure, notifyUndo } from "./notify.tsx";

interface UndoableChange {
  /** What was done, as the toast says it. */
  message: string;
  change: () => Promise<unknown>;
  undo: () => Promise<unknown>;
  /** Prefixes of the queries that show what is changed. */
  changes: readonly QueryKey[];
}

/** Makes a change, and offers to undo it. Rejects when the change fails. */
export async function changeWithUndo({ message, change, undo, changes }: UndoableChange): Promise<void> {
  const refresh = () => Promise.all(changes.map((queryKey) => queryClient.invalidateQueries({ queryKey })));
  await change();
  await refresh();
  notifyUndo(message, () => void undo().then(refresh).catch(notifyFailure));
}
