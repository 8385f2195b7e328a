/**
 * Mistral's API: requests and answers as in @mistralai/mistralai 2.7.0, esm/models/components
 * (chatcompletionstreamrequest.d.ts, completionchunk.d.ts, thinkchunk.d.ts, usageinfo.d.ts). It refuses fields that it
 * does not have (https://docs.mistral.ai/api, 422 HTTPValidationError).
 */

import { z } from "zod";
import { checkLength, chunkStream, toChatUsage, toChunk, toSse } from "./chat-completion-chunks.ts";
import { RequestProblem, type WireFormat } from "./stand-in.ts";

const Text = z.strictObject({ type: z.literal("text"), text: z.string() });
const Part = z.discriminatedUnion("type", [
  Text,
  z.strictObject({
    type: z.literal("image_url"),
    image_url: z.union([z.string(), z.strictObject({ url: z.string() })]),
  }),
  z.strictObject({ type: z.literal("document_url"), document_url: z.string(), document_name: z.string().optional() }),
  z.strictObject({
    type: z.literal("thinking"),
    thinking: z.array(Text),
    signature: z.string().optional(),
    closed: z.boolean().optional(),
  }),
]);
const Content = z.union([z.string(), z.array(Part)]);
const CallId = z.string().regex(/^[a-zA-Z0-9]{9}$/, { error: "must be a-z, A-Z, 0-9, with a length of 9" });
const Call = z.strictObject({
  id: CallId,
  type: z.literal("function").optional(),
  function: z.strictObject({ name: z.string(), arguments: z.union([z.string(), z.record(z.string(), z.unknown())]) }),
  index: z.int().optional(),
});
const Message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: Content }),
  z.strictObject({ role: z.literal("user"), content: Content }),
  z.strictObject({
    role: z.literal("assistant"),
    content: Content,
    tool_calls: z.array(Call).optional(),
    prefix: z.boolean().optional(),
  }),
  z.strictObject({ role: z.literal("tool"), content: Content, tool_call_id: CallId, name: z.string().optional() }),
]);
const Body = z.strictObject({
  model: z.string(),
  messages: z.array(Message).min(1),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  max_tokens: z.int().optional(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
  random_seed: z.int().optional(),
  n: z.int().optional(),
  presence_penalty: z.number().optional(),
  frequency_penalty: z.number().optional(),
  response_format: z.looseObject({ type: z.enum(["text", "json_object", "json_schema"]) }).optional(),
  tools: z.array(z.looseObject({ type: z.literal("function") })).optional(),
  tool_choice: z
    .union([z.enum(["auto", "none", "any", "required"]), z.looseObject({ type: z.literal("function") })])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  reasoning_effort: z.string().optional(),
  prompt_cache_key: z.string().optional(),
  safe_prompt: z.boolean().optional(),
});

const FimBody = z.strictObject({
  model: z.string(),
  prompt: z.string(),
  suffix: z.string().optional(),
  stream: z.boolean().optional(),
  temperature: z.number().optional(),
  top_p: z.number().optional(),
  max_tokens: z.int().optional(),
  min_tokens: z.int().optional(),
  stop: z.union([z.string(), z.array(z.string())]).optional(),
  random_seed: z.int().optional(),
});

export const mistralFormat: WireFormat = {
  ...chunkStream,
  read({ path, body }) {
    if (path === "/v1/embeddings") return { say: "", maxTokens: undefined, stop: [] };
    if (path === "/v1/fim/completions") {
      const { success, data, error } = FimBody.safeParse(body);
      if (!success) throw new RequestProblem(z.prettifyError(error));
      return { say: data.prompt + (data.suffix ?? ""), maxTokens: data.max_tokens, stop: [data.stop ?? []].flat() };
    }
    if (path !== "/v1/chat/completions") throw new RequestProblem(`there is no ${path}`);
    const checked = Body.safeParse(body);
    if (!checked.success) throw new RequestProblem(z.prettifyError(checked.error));
    const { messages, max_tokens, stop = [] } = checked.data;
    const say = JSON.stringify(messages.at(-1)?.content);
    checkLength(say);
    return { say, maxTokens: max_tokens, stop: typeof stop === "string" ? [stop] : stop };
  },
  end: (reason, _stopText, usage) => toSse([{ ...toChunk({ content: "" }, reason), usage: toChatUsage(usage) }]),
  error: (_status, message) => ({ object: "error", message, type: "invalid_request_error", param: null, code: null }),
};
