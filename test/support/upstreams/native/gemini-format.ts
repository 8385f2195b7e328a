/**
 * Gemini's API, also as Vertex AI has it: requests and answers as in @google/genai 2.32.0, dist/genai.d.ts (GenerateContentParameters,
 * GenerateContentResponse), errors as google.rpc.Status (googleapis/googleapis, google/rpc/error_details.proto).
 */

import { z } from "zod";
import type { TokenUsage } from "../../../../src/kernel/usage.ts";
import { RequestProblem, toEvents, type WireFormat } from "./stand-in.ts";

const Signature = z.base64().or(z.literal("skip_thought_signature_validator")).optional();
const Part = z
  .strictObject({
    text: z.string().optional(),
    thought: z.boolean().optional(),
    thoughtSignature: Signature,
    inlineData: z.strictObject({ mimeType: z.string(), data: z.base64() }).optional(),
    fileData: z.strictObject({ mimeType: z.string(), fileUri: z.string() }).optional(),
    functionCall: z
      .strictObject({ id: z.string().optional(), name: z.string().min(1), args: z.record(z.string(), z.unknown()) })
      .optional(),
    functionResponse: z
      .strictObject({ id: z.string().optional(), name: z.string().min(1), response: z.record(z.string(), z.unknown()) })
      .optional(),
  })
  .refine((part) => Object.keys(part).some((key) => !key.startsWith("thought")), {
    error: "required oneof field 'data'",
  });
const Content = z.strictObject({ role: z.enum(["user", "model"]).optional(), parts: z.array(Part).min(1) });
const Body = z.strictObject({
  contents: z.array(Content).min(1),
  systemInstruction: Content.optional(),
  tools: z
    .array(
      z.strictObject({
        functionDeclarations: z.array(
          z.strictObject({
            name: z.string(),
            description: z.string().optional(),
            parametersJsonSchema: z.unknown().optional(),
          }),
        ),
      }),
    )
    .optional(),
  toolConfig: z
    .strictObject({
      functionCallingConfig: z.strictObject({
        mode: z.enum(["AUTO", "ANY", "NONE"]),
        allowedFunctionNames: z.array(z.string()).optional(),
      }),
    })
    .optional(),
  generationConfig: z
    .strictObject({
      temperature: z.number().optional(),
      topP: z.number().optional(),
      topK: z.number().optional(),
      candidateCount: z.int().optional(),
      maxOutputTokens: z.int().optional(),
      stopSequences: z.array(z.string()).max(5).optional(),
      seed: z.int().optional(),
      presencePenalty: z.number().optional(),
      frequencyPenalty: z.number().optional(),
      responseLogprobs: z.boolean().optional(),
      logprobs: z.int().optional(),
      responseMimeType: z.string().optional(),
      responseJsonSchema: z.unknown().optional(),
      thinkingConfig: z
        .strictObject({
          includeThoughts: z.boolean().optional(),
          thinkingBudget: z.int().optional(),
          thinkingLevel: z.enum(["minimal", "low", "medium", "high", "MINIMAL", "LOW", "MEDIUM", "HIGH"]).optional(),
        })
        .optional(),
    })
    .optional(),
  safetySettings: z.array(z.strictObject({ category: z.string(), threshold: z.string() })).optional(),
});

const METHOD = /^\/models\/[\w.-]+:(streamGenerateContent\?alt=sse|generateContent)$/;
const EMBEDDINGS = /^\/models\/[\w.-]+:batchEmbedContents$/;

export const geminiFormat: WireFormat = {
  contentType: "text/event-stream",
  read({ path, body }) {
    const method = path.startsWith("/v1beta/") ? path.slice("/v1beta".length) : "";
    if (EMBEDDINGS.test(method)) return { say: "", maxTokens: undefined, stop: [] };
    if (!METHOD.test(method)) throw new RequestProblem(`there is no ${path}`);
    const checked = Body.safeParse(body);
    if (!checked.success) throw new RequestProblem(z.prettifyError(checked.error));
    const { contents, generationConfig } = checked.data;
    const say = JSON.stringify(contents.at(-1)?.parts);
    if (say.length > 8000) {
      const message = `The input token count (${say.length}) exceeds the maximum number of tokens allowed (8000).`;
      throw new RequestProblem(message);
    }
    return { say, maxTokens: generationConfig?.maxOutputTokens, stop: generationConfig?.stopSequences ?? [] };
  },
  begin: () => "",
  text: (text) => chunk([{ text }]),
  end: (reason, _stopText, usage) =>
    toEvents(
      [
        {
          candidates: [
            {
              content: { parts: [{ text: "" }], role: "model" },
              finishReason: reason === "length" ? "MAX_TOKENS" : "STOP",
              index: 0,
            },
          ],
          usageMetadata: toUsage(usage),
          ...ENVELOPE,
        },
      ],
      false,
    ),
  error: (code, message) => ({
    error: { code, message, status: code === 400 ? "INVALID_ARGUMENT" : "INTERNAL" },
  }),
};

export const VERTEX_PATH = "/v1/projects/my-project/locations/europe-west4/publishers/google";

/** Differs in its addresses, credentials and in calls, which have no IDs. */
export const vertexFormat: WireFormat = {
  ...geminiFormat,
  read(request) {
    const { path, headers, body } = request;
    if (!path.startsWith(VERTEX_PATH)) throw new RequestProblem(`there is no ${path}`);
    if (!/^Bearer token-\d+$/.test(headers.authorization ?? "") || headers["x-goog-api-key"] !== undefined)
      throw new RequestProblem("no access token");
    if (/"function(Call|Response)":\{"id"/.test(JSON.stringify(body)))
      throw new RequestProblem("Unknown name \"id\" at 'contents': Cannot find field.");
    return geminiFormat.read({ ...request, path: `/v1beta${path.slice(VERTEX_PATH.length)}` });
  },
};

const ENVELOPE = { modelVersion: "gemini-upstream", responseId: "mAitaLmkHPPlz7IPvtfUqQ4" };

function toUsage({ promptTokens, cachedTokens, completionTokens }: TokenUsage) {
  return {
    promptTokenCount: promptTokens,
    ...(cachedTokens > 0 && { cachedContentTokenCount: cachedTokens }),
    candidatesTokenCount: completionTokens,
    totalTokenCount: promptTokens + completionTokens,
  };
}

function chunk(parts: readonly object[], further: object = {}): string {
  return toEvents([{ candidates: [{ content: { parts, role: "model" }, index: 0, ...further }], ...ENVELOPE }], false);
}

/** Chunks of an answer, one for each part; the last one has the reason and the usage. */
export function geminiAnswer(parts: readonly object[], finishReason: string, usageMetadata: object): string {
  const end = { candidates: [{ content: { role: "model" }, finishReason, index: 0 }], usageMetadata, ...ENVELOPE };
  return parts.map((part) => chunk([part])).join("") + toEvents([end], false);
}
