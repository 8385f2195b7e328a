import { useSearch } from "@tanstack/react-router";
import { useCallback, useEffect } from "react";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";
import { notifyFailure } from "../../components/notify.tsx";
import { chatStore } from "./chat-store.ts";
import { currentVersion, openPrompt } from "./prompt-settings.ts";
import { useChatAddress } from "./use-chat-address.ts";

/** Opens the prompt that the address names, and returns a function that opens another one. */
export function usePromptLink(models: string[], onDraft: (draft: string) => void): (prompt: string) => void {
  const { prompt: linked } = useSearch({ strict: false }) as { prompt?: string };
  const show = useChatAddress();
  const open = useCallback(
    async (prompt: string) => {
      try {
        const path = `v1/prompts/${encodeURIComponent(prompt)}/versions`;
        const { data } = await request<Answers["StoredPromptVersionList"]>(path);
        const version = currentVersion(data);
        if (version === undefined) return;
        const { conversation, draft } = openPrompt(version.content, models);
        chatStore.add(conversation);
        onDraft(draft);
        show(conversation.id, linked !== undefined);
      } catch (failure) {
        notifyFailure(failure);
        if (linked !== undefined) show(undefined, true);
      }
    },
    [models, onDraft, show, linked],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: each link is opened once
  useEffect(() => {
    if (linked !== undefined) void open(linked);
  }, [linked]);
  return (prompt) => void open(prompt);
}
