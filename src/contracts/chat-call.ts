/** A chat as inference runs it, whichever format the client sent it in. */

import type { Fault } from "../kernel/faults.ts";
import type { ChatMessage } from "./chat-message.ts";
import type { ChatDefaults, ChatRequest, RawPrompt } from "./chat-model.ts";
import type { PassThrough } from "./chat-proxy.ts";

export interface ChatCall {
  /** Whether its answer is stored under its ID, which therefore cannot be that of a cached answer. */
  isStored?: boolean;
  /** Whether the caller sees no token of the answer, but what its log probabilities say of the caller's own options. */
  hidesTokens?: boolean;
  /** Its messages may become strings when they are read first, which `outline` avoids. */
  request: ChatRequest;
  /** Messages of a large body with short texts in place of long ones, for what does not depend on them. */
  outline?(): { messages: readonly ChatMessage[]; hiddenBytes: number };
  /** Prompts that are continued one after the other, in place of `request.messages`. */
  prompts?: readonly RawPrompt[];
  /** The same in the caller's format, for upstreams that support it. */
  passThrough?: PassThrough;
  /** Returns the call with a model's defaults in the fields that neither the caller nor an earlier call of this has set. */
  withDefaults?(defaults: ChatDefaults): ChatCall;
  /** Returns the content of the request for moderation, and the Fault of content that cannot be moderated. */
  moderationInput(): { texts: readonly string[]; unmoderatable: Fault | undefined };
}
