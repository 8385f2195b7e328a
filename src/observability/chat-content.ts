/** Messages as the semantic conventions for generative AI write them in spans. */

export type ContentPart =
  | { type: "text" | "reasoning"; content: string }
  | { type: "tool_call"; id?: string | undefined; name?: string | undefined; arguments: string }
  | { type: "tool_call_response"; id?: string | undefined; response: string }
  /** Images: `uri` for those on the web, without data for those in the request. */
  | { type: "uri"; modality: "image"; uri: string }
  | { type: "blob"; modality: "image" | "file" };

export interface ContentMessage {
  role: string;
  name?: string | undefined;
  parts: readonly ContentPart[];
  finish_reason?: string | undefined;
}

/** Prompt and answer of a chat. */
export interface ChatContent {
  inputMessages: readonly ContentMessage[];
  /** One for each choice. */
  outputMessages: readonly ContentMessage[];
}
