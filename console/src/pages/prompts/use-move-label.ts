import { changeWithUndo } from "../../components/change-with-undo.ts";
import { useSave } from "../../components/use-save.ts";
import { t } from "../../i18n/translate.ts";
import { moveLabel, PROMPT_QUERIES, removeLabel, type StoredPrompt } from "./prompts-api.ts";

/** Moves and removes labels of a prompt, each with a button that undoes it. */
export function useMoveLabel(prompt: StoredPrompt) {
  const setLabel = (label: string, version: number | undefined) =>
    version === undefined ? removeLabel(prompt.id, label) : moveLabel(prompt.id, label, version);
  const change = (label: string, version: number | undefined, message: string) =>
    changeWithUndo({
      message,
      change: () => setLabel(label, version),
      undo: () => setLabel(label, prompt.labels[label]),
      changes: PROMPT_QUERIES,
    });
  const move = useSave({
    save: ({ label, version }: { label: string; version: number }) =>
      change(label, version, t("{{label}} is version {{version}} now", { label, version: String(version) })),
  });
  const remove = useSave({
    save: (label: string) => change(label, undefined, t("The label {{label}} is removed", { label })),
  });
  return { move, remove };
}
