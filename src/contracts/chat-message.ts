/** Messages of a chat. */

export interface ChatMessage<Content = string | readonly ContentPart[]> {
  role: "system" | "developer" | "user" | "assistant" | "tool";
  /** "" for an assistant message with tool calls only. An array only if it contains an image or a file. */
  content: Content;
  /** Places in a content of one text up to which a provider should cache the prompt, in ascending order. */
  cacheMarks?: readonly PlacedCacheMark[];
  /** Reasoning of an assistant message that its provider can recognize. */
  reasoning?: readonly ReasoningBlock[];
  /** Tool calls of an assistant message, in order. */
  toolCalls?: readonly ToolCall[];
  /** ID of the call that a tool message answers. */
  toolCallId?: string;
  /** Name of the participant, shown where the model's template has a place for it. */
  name?: string;
  /** True for instructions in which a model has summarized the conversation before them. */
  isSummary?: true;
}

/** A message to a model without vision: the capability check refuses images before. */
export type TextMessage = ChatMessage<string>;

export type ContentPart = TextPart | ImagePart | FilePart;

/** Asks a provider to cache the prompt up to here. */
export interface CacheMark {
  /** Lifetime; undefined: the provider's default. */
  ttl: "5m" | "1h" | undefined;
}

interface PlacedCacheMark extends CacheMark {
  /** UTF-16 units of the text before the mark. */
  end: number;
}

/** Reasoning as its provider returned it, which may read it again in later turns. */
export interface ReasoningBlock {
  text: string;
  /** Value by which the provider recognizes the text. */
  signature?: string | undefined;
  /** Reasoning that only the provider can read, in place of a text. */
  encrypted?: string | undefined;
}

interface TextPart {
  type: "text";
  text: string;
  cache?: CacheMark | undefined;
}

export interface FilePart {
  type: "file";
  /** `https:` or `data:`. */
  url: string;
  name?: string | undefined;
  cache?: CacheMark | undefined;
  /** Path of the part's type in the caller's body, for errors. */
  param: string;
}

export interface ImagePart {
  type: "image";
  cache?: CacheMark | undefined;
  /** `https:` or `data:`. */
  url: string;
  /** Requested detail, as the caller wrote it, such as `low` or `high`. */
  detail?: string | undefined;
  /** Paths in the caller's body for errors: of the field that makes the part an image, and of its URL. */
  param: { type: string; url: string };
}

export interface ToolCall {
  id: string;
  name: string;
  /** A serialized JSON object. */
  arguments: string;
  /** Value by which the provider recognizes the reasoning that led to the call. */
  signature?: string | undefined;
}
