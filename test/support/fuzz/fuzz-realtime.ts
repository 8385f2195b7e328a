/** Messages of Realtime clients: valid events, events with one mutation, and what is no event at all. */

import fc from "fast-check";
import { toBody } from "./fuzz-mutations.ts";

const text = fc.oneof(fc.constantFrom("Hi", "", "long"), fc.string({ maxLength: 30 }));
/** Few IDs, so that events refer to items that exist. */
const itemId = fc.constantFrom("a", "b", "c", "d", "root", "none");
/** Mostly short: a mutation may repeat it 200 times, and the detection of speech takes its time for each second. */
const audio = fc
  .oneof({ weight: 5, arbitrary: fc.nat({ max: 240 }) }, { weight: 1, arbitrary: fc.constant(4800) })
  .map((bytes) => Buffer.alloc(bytes, 0x11).toString("base64"));
const format = fc.constantFrom({ type: "audio/pcm", rate: 24_000 }, { type: "audio/pcmu" }, { type: "audio/pcma" });
const tool = fc.record({
  type: fc.constant("function"),
  name: fc.constantFrom("f", "g"),
  parameters: fc.constant({ type: "object", properties: { x: { type: "string" } } }),
});
const turnDetection = fc.constantFrom(
  null,
  null,
  { type: "server_vad", threshold: 0.5, silence_duration_ms: 200 },
  { type: "semantic_vad", eagerness: "high" },
);

const options = { requiredKeys: [] as never[] };
const input = fc.record(
  {
    format,
    turn_detection: turnDetection,
    transcription: fc.constantFrom(null, {}, { model: "hears", language: "en", prompt: "Names" }),
  },
  options,
);
const output = fc.record(
  { format, voice: fc.constantFrom("alloy", "ash"), speed: fc.constantFrom(0.25, 1, 4) },
  options,
);
const responseFields = {
  instructions: text,
  output_modalities: fc.constantFrom(["text"], ["audio"]),
  tools: fc.array(tool, { maxLength: 3 }),
  tool_choice: fc.constantFrom("auto", "none", "required", { type: "function", name: "f" }),
  max_output_tokens: fc.constantFrom("inf", 1, 50),
};
const session = fc.oneof(
  fc.record(
    { type: fc.constant("realtime"), ...responseFields, audio: fc.record({ input, output }, options) },
    { requiredKeys: ["type"] },
  ),
  fc.record({ type: fc.constant("transcription"), audio: fc.record({ input }, options) }),
);

const content = fc.oneof(
  fc.record({ type: fc.constant("input_text"), text }),
  fc.record({ type: fc.constant("input_audio"), audio, transcript: text }, { requiredKeys: ["type"] }),
  fc.record({ type: fc.constant("output_text"), text }),
  fc.constant({ type: "input_image", image_url: "data:image/png;base64,AAAA" }),
);
const item = fc.oneof(
  fc.record(
    {
      type: fc.constant("message"),
      role: fc.constantFrom("user", "user", "system", "assistant"),
      content: fc.array(content, { maxLength: 3 }),
      id: itemId,
    },
    { requiredKeys: ["type", "role", "content"] },
  ),
  fc.record({ type: fc.constant("function_call"), name: fc.constant("f"), arguments: text, call_id: itemId }),
  fc.record({ type: fc.constant("function_call_output"), call_id: itemId, output: text }),
);
const response = fc.record(
  {
    ...responseFields,
    conversation: fc.constantFrom("auto", "none"),
    metadata: fc.dictionary(text, text, { maxKeys: 2 }),
    input: fc.array(fc.oneof(item, fc.record({ type: fc.constant("item_reference"), id: itemId })), { maxLength: 3 }),
  },
  options,
);

const event = (type: string, fields: Record<string, fc.Arbitrary<unknown>> = {}) =>
  fc
    .tuple(fc.record(fields), fc.option(itemId, { nil: undefined }))
    .map(([given, event_id]) => ({ type, ...given, event_id }));

const clientEvent = fc.oneof(
  event("session.update", { session }),
  { weight: 4, arbitrary: event("input_audio_buffer.append", { audio }) },
  event("input_audio_buffer.commit"),
  event("input_audio_buffer.clear"),
  { weight: 3, arbitrary: event("conversation.item.create", { item, previous_item_id: itemId }) },
  { weight: 2, arbitrary: event("conversation.item.create", { item }) },
  event("conversation.item.retrieve", { item_id: itemId }),
  { weight: 2, arbitrary: event("conversation.item.delete", { item_id: itemId }) },
  event("conversation.item.truncate", { item_id: itemId, content_index: fc.nat(2), audio_end_ms: fc.nat(500) }),
  event("response.create", { response }),
  event("response.cancel"),
);

/** Text, or a buffer that is sent as a binary message. */
export const realtimeMessage: fc.Arbitrary<string | Buffer> = fc.oneof(
  { weight: 40, arbitrary: toBody(clientEvent) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 2000 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.nat(400).map((depth) => "[".repeat(depth)) },
);
