import { useMutation, useQueryClient } from "@tanstack/react-query";
import { notifyFailure, notifyUndo } from "../../components/notify.tsx";
import { t } from "../../i18n/translate.ts";
import { moveLabel, refreshPrompts, removeLabel, type StoredPrompt } from "./prompts-api.ts";

/** Moves and removes labels of a prompt, each with a button that undoes it. */
export function useMoveLabel(prompt: StoredPrompt) {
  const client = useQueryClient();
  const setLabel = async (label: string, version: number | undefined) => {
    await (version === undefined ? removeLabel(prompt.id, label) : moveLabel(prompt.id, label, version));
    await refreshPrompts(client);
  };
  const undo = (label: string) => () => void setLabel(label, prompt.labels[label]).catch(notifyFailure);
  const move = useMutation({
    mutationFn: ({ label, version }: { label: string; version: number }) => setLabel(label, version),
    onSuccess: (_answer, { label, version }) =>
      notifyUndo(t("{{label}} is version {{version}} now", { label, version: String(version) }), undo(label)),
    onError: notifyFailure,
  });
  const remove = useMutation({
    mutationFn: (label: string) => setLabel(label, undefined),
    onSuccess: (_answer, label) => notifyUndo(t("The label {{label}} is removed", { label }), undo(label)),
    onError: notifyFailure,
  });
  return { move, remove };
}
