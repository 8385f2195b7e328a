/** Bodies of Gemini's generateContent, streamGenerateContent and countTokens. */

import { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { listOf, parsedListOf } from "../../kernel/list-of.ts";
import { optional } from "../openai/optional.ts";
import { parse } from "../openai/validate.ts";
import { named } from "../openapi/named.ts";
import { camelFields } from "./camel-fields.ts";

const Share = z.number().min(0).max(1);
const Penalty = z.number().min(-2).max(2);
const Free = z.record(z.string(), z.unknown());
const Blob = lazy.looseObject(() => ({
  mimeType: z.string().regex(/^[\w.+-]+\/[\w.+-]+/, { error: "it must be a media type, such as image/png" }),
  data: z.string().min(1),
  displayName: z.string().nullish(),
}));

/** Fields of which a part has one. */
const PART_CONTENTS = ["text", "inlineData", "fileData", "functionCall", "functionResponse"] as const;

const Part = lazy
  .looseObject(() => ({
    text: z.string().nullish(),
    thought: z.boolean().nullish(),
    thoughtSignature: z.string().nullish(),
    inlineData: Blob.nullish(),
    fileData: z.looseObject({ fileUri: z.string().min(1), mimeType: z.string().nullish() }).nullish(),
    functionCall: z.looseObject({ id: z.string().nullish(), name: z.string().min(1), args: Free.nullish() }).nullish(),
    functionResponse: z
      .looseObject({
        id: z.string().nullish(),
        name: z.string().min(1),
        response: Free.nullish(),
        parts: parsedListOf(z.looseObject({ inlineData: Blob.nullish() })).nullish(),
      })
      .nullish(),
  }))
  .check(({ value, issues }) => {
    if (PART_CONTENTS.some((name) => value[name] != null) || value.thoughtSignature != null) return;
    const message = `a part has one of ${PART_CONTENTS.join(", ")}; models here read no other`;
    issues.push({ code: "custom", input: value, path: [], message });
  });

export type Part = z.output<typeof Part>;

export const Content = lazy.looseObject(() => ({
  role: z.enum(["user", "model", "function", "system"], { error: "it must be user or model" }).nullish(),
  parts: listOf(Part).nullish(),
}));

const FunctionDeclaration = lazy.looseObject(() => ({
  name: z.string().regex(/^[a-zA-Z_][\w.:-]{0,127}$/, {
    error: "it must begin with a letter and have at most 128 letters, digits, underscores, dots, colons or hyphens",
  }),
  description: z.string().nullish(),
  parameters: Free.nullish(),
  parametersJsonSchema: Free.nullish(),
}));

const GenerationConfig = lazy.looseObject(() => ({
  temperature: optional(z.number().min(0).max(2)),
  topP: optional(Share),
  topK: optional(z.int().min(0)),
  candidateCount: optional(z.int().min(1).max(8)),
  maxOutputTokens: optional(z.int().min(1)),
  stopSequences: optional(listOf(z.string().min(1)).max(5)),
  responseLogprobs: optional(z.boolean()),
  logprobs: optional(z.int().min(0).max(20)),
  presencePenalty: optional(Penalty),
  frequencyPenalty: optional(Penalty),
  seed: optional(z.int()),
  responseMimeType: optional(
    z.enum(["text/plain", "application/json"], {
      error: "it must be text/plain or application/json; a schema with an enum takes the place of text/x.enum",
    }),
  ),
  responseSchema: optional(Free),
  responseJsonSchema: optional(Free),
  /** Its name in generated clients. */
  _responseJsonSchema: optional(Free),
  thinkingConfig: optional(
    z.looseObject({
      includeThoughts: optional(z.boolean()),
      thinkingBudget: optional(z.int().min(-1)),
      thinkingLevel: optional(z.string().min(1)),
    }),
  ),
}));

const SafetySettings = parsedListOf(z.looseObject({ category: z.string().min(1), threshold: z.string().min(1) }));

export const GenerateContentBody = named(
  "GenerateContentBody",
  lazy.looseObject(() => ({
    /** Name of the model, which the path has. */
    model: optional(z.string()),
    contents: listOf(Content).min(1),
    systemInstruction: optional(Content),
    tools: optional(listOf(z.looseObject({ functionDeclarations: listOf(FunctionDeclaration).nullish() }))),
    toolConfig: optional(
      z.looseObject({
        functionCallingConfig: optional(
          z.looseObject({
            mode: optional(z.enum(["MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED"])),
            allowedFunctionNames: optional(listOf(z.string().min(1))),
          }),
        ),
      }),
    ),
    safetySettings: optional(SafetySettings),
    generationConfig: optional(GenerationConfig),
    serviceTier: optional(z.string()),
    labels: optional(z.record(z.string(), z.string())),
  })),
);

export type GenerateContentBody = z.output<typeof GenerateContentBody>;

export const CountTokensBody = named(
  "GeminiCountTokensBody",
  lazy.looseObject(() => ({
    contents: optional(listOf(Content).min(1)),
    generateContentRequest: optional(GenerateContentBody),
  })),
);

/** Throws a Fault that names the first invalid field. */
export function readGenerateBody(value: unknown): GenerateContentBody {
  return parse(GenerateContentBody, camelFields(value));
}

/** Reads the request whose prompt is counted. Throws a Fault. */
export function readCountTokensBody(value: unknown): GenerateContentBody {
  const { contents, generateContentRequest: request } = parse(CountTokensBody, camelFields(value));
  if (request !== undefined && contents !== undefined) {
    const message = "Send either 'contents' or 'generateContentRequest', which has its own contents.";
    throw invalidRequest(message, "contents", "invalid_value");
  }
  if (request !== undefined) return request;
  if (contents === undefined) {
    throw invalidRequest("Missing required parameter: 'contents'.", "contents", "missing_required_parameter");
  }
  return { contents } as GenerateContentBody;
}

/** Throws a Fault for a body that names another model than the path. */
export function checkModel(sent: string | undefined, model: string, param = "model"): void {
  if (sent === undefined || modelOf(sent) === model) return;
  const message = `'${param}' names '${sent.slice(0, 100)}', the path '${model.slice(0, 100)}'. Leave it out.`;
  throw invalidRequest(message, param, "invalid_value");
}

/** `models/gemma` → `gemma` */
function modelOf(name: string): string {
  return name.replace(/^models\//, "");
}
