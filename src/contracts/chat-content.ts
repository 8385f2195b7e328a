/** What a request asked and what answered it, as the semantic conventions for generative AI write messages. */

export type ContentPart =
  | { type: "text" | "reasoning" | "refusal"; content: string }
  | { type: "tool_call"; id?: string | undefined; name?: string | undefined; arguments: string }
  | { type: "tool_call_response"; id?: string | undefined; response: string }
  /** Content by reference: `uri` for what is on the web, `blob` without data for what was in the request. */
  | { type: "uri"; modality: "image" | "file"; uri: string }
  | { type: "blob"; modality: "image" | "audio" | "file"; name?: string | undefined };

export interface ContentMessage {
  role: string;
  name?: string | undefined;
  parts: readonly ContentPart[];
  finish_reason?: string | undefined;
}

/** Prompt and answer of a chat, or texts and results of another task. */
export interface ChatContent {
  inputMessages: readonly ContentMessage[];
  /** One for each choice. */
  outputMessages: readonly ContentMessage[];
}
