import { notifyFailure, notifyUndo } from "./notify.tsx";

interface UndoableChange {
  /** What was done, as the toast says it. */
  message: string;
  change: () => Promise<unknown>;
  undo: () => Promise<unknown>;
  /** Reads again what the page shows. */
  refresh: () => Promise<unknown>;
}

/** Makes a change, and offers to undo it. Rejects when the change fails. */
export async function changeWithUndo({ message, change, undo, refresh }: UndoableChange): Promise<void> {
  await change();
  await refresh();
  notifyUndo(message, () => void undo().then(refresh).catch(notifyFailure));
}
