/** Events that clients of the Realtime API send. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { optional } from "../openai/optional.ts";
import { Metadata } from "../responses/metadata.ts";
import { ItemField } from "./conversation-items.ts";
import {
  MaxOutputTokens,
  OutputModalities,
  RealtimeToolChoice,
  RealtimeTools,
  Reasoning,
  SessionConfiguration,
  Voice,
} from "./session-settings.ts";

const ItemReference = lazy.object(() => ({ type: z.literal("item_reference"), id: z.string().min(1) }));

export const ResponseParameters = lazy.object(() => ({
  instructions: optional(z.string()),
  output_modalities: optional(OutputModalities),
  audio: optional(z.object({ output: optional(z.object({ voice: optional(Voice) })) })),
  tools: optional(RealtimeTools),
  tool_choice: optional(RealtimeToolChoice),
  parallel_tool_calls: optional(z.boolean()),
  max_output_tokens: optional(MaxOutputTokens),
  reasoning: optional(Reasoning),
  metadata: optional(Metadata),
  conversation: optional(z.enum(["auto", "none"])),
  input: optional(listOf(z.union([ItemReference, ItemField]))),
  prompt: z.null({ error: "there are no stored prompts here; use 'instructions'" }).optional(),
}));
export type ResponseParameters = Partial<z.output<typeof ResponseParameters>>;

const event_id = optional(z.string().max(512));

export const ClientEvent = z.discriminatedUnion("type", [
  z.object({ type: z.literal("session.update"), event_id, session: SessionConfiguration }),
  lazy.object(() => ({ type: z.literal("input_audio_buffer.append"), event_id, audio: z.string() })),
  z.object({ type: z.literal("input_audio_buffer.commit"), event_id }),
  z.object({ type: z.literal("input_audio_buffer.clear"), event_id }),
  lazy.object(() => ({
    type: z.literal("conversation.item.create"),
    event_id,
    previous_item_id: optional(z.string()),
    item: ItemField,
  })),
  lazy.object(() => ({ type: z.literal("conversation.item.retrieve"), event_id, item_id: z.string() })),
  lazy.object(() => ({ type: z.literal("conversation.item.delete"), event_id, item_id: z.string() })),
  lazy.object(() => ({
    type: z.literal("conversation.item.truncate"),
    event_id,
    item_id: z.string(),
    content_index: z.int().min(0),
    audio_end_ms: z.int().min(0),
  })),
  lazy.object(() => ({ type: z.literal("response.create"), event_id, response: optional(ResponseParameters) })),
  lazy.object(() => ({ type: z.literal("response.cancel"), event_id, response_id: optional(z.string()) })),
]);
export type ClientEvent = z.output<typeof ClientEvent>;
