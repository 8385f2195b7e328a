/** Differences between the answers of chat completions and of text completions. */

export interface CompletionKind {
  idPrefix: string;
  /** `object` of a chunk. */
  chunk: string;
}

export const CHAT_COMPLETION: CompletionKind = { idPrefix: "chatcmpl-", chunk: "chat.completion.chunk" };
export const TEXT_COMPLETION: CompletionKind = { idPrefix: "cmpl-", chunk: "text_completion" };
