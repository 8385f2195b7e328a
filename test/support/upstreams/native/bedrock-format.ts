/**
 * Bedrock's ConverseStream: requests and events as in @aws-sdk/client-bedrock-runtime 3.1164.0,
 * dist-types/models/models_0.d.ts (ConverseStreamRequest, ConverseStreamOutput); the encoding of events as in Smithy's
 * specification of Amazon event streams (https://smithy.io/2.0/aws/amazon-eventstream.html).
 */

import { createHash, createHmac } from "node:crypto";
import { crc32 } from "node:zlib";
import { z } from "zod";
import { type ReceivedRequest, RequestProblem, type WireFormat } from "./stand-in.ts";

const Id = z.string().regex(/^[a-zA-Z0-9_-]{1,64}$/);
const CachePoint = z.strictObject({ type: z.literal("default"), ttl: z.enum(["5m", "1h"]).optional() });
const Bytes = z.strictObject({ bytes: z.base64() });
const Block = z
  .strictObject({
    text: z.string().min(1),
    image: z.strictObject({ format: z.enum(["png", "jpeg", "gif", "webp"]), source: Bytes }),
    document: z.strictObject({ format: z.string(), name: z.string().regex(/^[a-zA-Z0-9 ()[\]-]+$/), source: Bytes }),
    toolUse: z.strictObject({ toolUseId: Id, name: z.string(), input: z.record(z.string(), z.unknown()) }),
    toolResult: z.strictObject({ toolUseId: Id, content: z.array(z.strictObject({ text: z.string() })).min(1) }),
    reasoningContent: z.union([
      z.strictObject({ reasoningText: z.strictObject({ text: z.string(), signature: z.string() }) }),
      z.strictObject({ redactedContent: z.base64() }),
    ]),
    cachePoint: CachePoint,
  })
  .partial()
  .refine((block) => Object.keys(block).length === 1, { error: "must set exactly one member" });
const Tool = z.union([
  z.strictObject({
    toolSpec: z.strictObject({
      name: z.string(),
      description: z.string().min(1).optional(),
      inputSchema: z.strictObject({ json: z.looseObject({ type: z.literal("object") }) }),
    }),
  }),
  z.strictObject({ cachePoint: CachePoint }),
]);
const Body = z.strictObject({
  messages: z.array(z.strictObject({ role: z.enum(["user", "assistant"]), content: z.array(Block).min(1) })).min(1),
  system: z.array(Block).optional(),
  inferenceConfig: z
    .strictObject({
      maxTokens: z.int(),
      temperature: z.number(),
      topP: z.number(),
      stopSequences: z.array(z.string()),
    })
    .partial()
    .optional(),
  toolConfig: z
    .strictObject({
      tools: z.array(Tool).min(1),
      toolChoice: z
        .union([
          z.strictObject({ auto: z.object({}) }),
          z.strictObject({ any: z.object({}) }),
          z.strictObject({ tool: z.strictObject({ name: z.string() }) }),
        ])
        .optional(),
    })
    .optional(),
  additionalModelRequestFields: z.record(z.string(), z.unknown()).optional(),
  additionalModelResponseFieldPaths: z.array(z.string()).optional(),
  outputConfig: z
    .strictObject({
      textFormat: z.strictObject({
        type: z.literal("json_schema"),
        structure: z.strictObject({ jsonSchema: z.strictObject({ schema: z.string(), name: z.string() }) }),
      }),
      effort: z.string(),
    })
    .partial()
    .optional(),
  guardrailConfig: z.strictObject({ guardrailIdentifier: z.string(), guardrailVersion: z.string() }).optional(),
});

export const AWS_KEYS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const REGION = "eu-central-1";

export const bedrockFormat: WireFormat = {
  contentType: "application/vnd.amazon.eventstream",
  read(request) {
    checkSignature(request);
    const { path, body } = request;
    if (path.endsWith("/invoke")) return { say: "", maxTokens: undefined, stop: [] };
    if (!/^\/model\/[^/]+\/converse(-stream)?$/.test(path)) throw new RequestProblem(`there is no ${path}`);
    const checked = Body.safeParse(body);
    if (!checked.success) throw new RequestProblem(z.prettifyError(checked.error));
    const { messages, inferenceConfig } = checked.data;
    const say = JSON.stringify(messages.at(-1)?.content);
    if (say.length > 8000)
      throw new RequestProblem(`Input is too long for requested model: ${say.length} > 8000 tokens.`);
    return { say, maxTokens: inferenceConfig?.maxTokens, stop: inferenceConfig?.stopSequences ?? [] };
  },
  begin: () => toMessage("messageStart", { role: "assistant" }),
  text: (text) => toMessage("contentBlockDelta", { contentBlockIndex: 0, delta: { text } }),
  end: (reason, stopText, { promptTokens, completionTokens }) =>
    Buffer.concat([
      toMessage("contentBlockStop", { contentBlockIndex: 0 }),
      toMessage("messageStop", {
        stopReason: reason === "length" ? "max_tokens" : stopText === undefined ? "end_turn" : "stop_sequence",
      }),
      toMessage("metadata", {
        usage: {
          inputTokens: promptTokens,
          outputTokens: completionTokens,
          totalTokens: promptTokens + completionTokens,
        },
        metrics: { latencyMs: 551 },
      }),
    ]),
  error: (_status, message) => ({ message }),
};

/** Checks Signature Version 4, as AWS documents it, independently of the library that signs. */
function checkSignature({ method, path, headers, text }: ReceivedRequest): void {
  const { authorization = "" } = headers;
  if (authorization.startsWith("Bearer ")) return;
  const [, scope = "", signed = "", signature] =
    /^AWS4-HMAC-SHA256 Credential=[^/]+\/([^,]+), SignedHeaders=([^,]+), Signature=(\w+)$/.exec(authorization) ?? [];
  const sha256 = (value: string) => createHash("sha256").update(value).digest("hex");
  const hmac = (key: string | Buffer, value: string) => createHmac("sha256", key).update(value).digest();
  const canonicalPath = path
    .split("/")
    .map((segment) => encodeURIComponent(segment))
    .join("/");
  const canonicalHeaders = signed.split(";").map((name) => `${name}:${String(headers[name]).trim()}\n`);
  const canonical = [method, canonicalPath, "", canonicalHeaders.join(""), signed, sha256(text)].join("\n");
  const [date = "", region = "", service = ""] = scope.split("/");
  const toSign = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope, sha256(canonical)].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${AWS_KEYS.secretAccessKey}`, date), region), service), "aws4_request");
  if (region === REGION && service === "bedrock" && hmac(key, toSign).toString("hex") === signature) return;
  throw new RequestProblem("The request signature we calculated does not match the signature you provided.");
}

/** One message of an event stream. */
export function toMessage(type: string, payload: object, kind: "event" | "exception" = "event"): Buffer {
  const headers = Buffer.concat([
    toHeader(`:${kind}-type`, type),
    toHeader(":content-type", "application/json"),
    toHeader(":message-type", kind),
  ]);
  const body = Buffer.from(JSON.stringify(payload));
  const message = Buffer.alloc(16 + headers.length + body.length);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  headers.copy(message, 12);
  body.copy(message, 12 + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4);
  return message;
}

function toHeader(name: string, value: string): Buffer {
  const bytes = Buffer.from(value);
  const head = Buffer.from([name.length, ...Buffer.from(name), 7, bytes.length >> 8, bytes.length & 0xff]);
  return Buffer.concat([head, bytes]);
}

/** Messages of an answer from its blocks, each with its start and deltas. */
export function bedrockAnswer(
  blocks: readonly { start?: object; deltas: readonly object[] }[],
  stopReason: string,
  usage: object,
): Buffer {
  return Buffer.concat([
    toMessage("messageStart", { role: "assistant" }),
    ...blocks.flatMap(({ start, deltas }, contentBlockIndex) => [
      ...(start === undefined ? [] : [toMessage("contentBlockStart", { contentBlockIndex, start })]),
      ...deltas.map((delta) => toMessage("contentBlockDelta", { contentBlockIndex, delta })),
      toMessage("contentBlockStop", { contentBlockIndex }),
    ]),
    toMessage("messageStop", { stopReason }),
    toMessage("metadata", { usage, metrics: { latencyMs: 551 } }),
  ]);
}
