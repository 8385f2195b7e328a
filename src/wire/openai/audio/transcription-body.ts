/** Checks the form fields of POST /v1/audio/transcriptions and /v1/audio/translations and maps them to a request. */

import { z } from "zod";
import type { KnownSpeakers, TranscriptionRequest } from "../../../contracts/transcription-model.ts";
import { invalidRequest, unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { named } from "../../openapi/named.ts";
import { checkUnknownFields, type UnknownFieldsPolicy, type UnsupportedField } from "../unknown-fields.ts";
import { parse } from "../validate.ts";

const FORMATS = ["json", "text", "srt", "verbose_json", "vtt", "diarized_json"] as const;
export type TranscriptFormat = (typeof FORMATS)[number];

/** As OpenAI's API: each recording takes a process for as long as it is decoded. */
const MAX_KNOWN_SPEAKERS = 4;
const DATA_URL = /^data:[^,]*;base64,/;

const number = z.string().transform((value) => (value.trim() === "" ? Number.NaN : Number(value)));
const flag = z
  .string()
  .refine((value) => /^(true|false|1|0)$/i.test(value), { message: "it must be true or false" })
  .transform((value) => /^(true|1)$/i.test(value));

const shared = {
  model: z.string().min(1),
  prompt: z.string().optional(),
  response_format: z.enum(FORMATS).optional(),
  temperature: number.pipe(z.number().min(0).max(1)).optional(),
};

export const TranslationBody = named("TranslationBody", z.object(shared));

export const TranscriptionBody = named(
  "TranscriptionBody",
  lazy.object(() => ({
    ...shared,
    language: z.string().max(100).optional(),
    stream: flag.optional(),
    timestamp_granularities: z.array(z.enum(["word", "segment"])).optional(),
    include: z.array(z.string()).optional(),
    chunking_strategy: z.union([z.literal("auto"), z.looseObject({ type: z.literal("server_vad") })]).optional(),
    known_speaker_names: z.array(z.string()).max(MAX_KNOWN_SPEAKERS).optional(),
    known_speaker_references: z.array(z.string()).max(MAX_KNOWN_SPEAKERS).optional(),
    keywords: z.array(z.string()).optional(),
    languages: z.array(z.string()).optional(),
  })),
);

export interface ParsedTranscription {
  model: string;
  request: Omit<TranscriptionRequest, "model" | "samples" | "file">;
  format: TranscriptFormat;
  stream: boolean;
  /** The lists in verbose_json. */
  lists: { segments: boolean; words: boolean };
  /** Names of the fields that are ignored. */
  ignoredFields: string[];
}

/** Unsupported fields: local models do not identify speakers or translate into languages other than English. */
const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  diarize: { isDefault: isFalse, instead: "no model here supports speaker diarization" },
  diarization: { isDefault: isFalse, instead: "no model here supports speaker diarization" },
  task: { isDefault: (value) => value === "transcribe", instead: "translations have a path of their own" },
  target_language: { instead: "/v1/audio/translations translates to English" },
};

function isFalse(value: unknown): boolean {
  return value === "false" || value === "0";
}

type Fields = readonly (readonly [name: string, value: string])[];

/** Validates the form. Throws a Fault whose `param` names the first invalid field. */
export function toTranscription(fields: Fields, policy: UnknownFieldsPolicy): ParsedTranscription {
  const sent = gather(fields);
  const fieldNames = Object.keys(TranscriptionBody.shape);
  const ignoredFields = checkUnknownFields(sent, { known: fieldNames, unsupported: UNSUPPORTED, policy });
  const body = parse(TranscriptionBody, sent);
  refuseUnsupported(body);
  const format = body.response_format ?? "json";
  const { timestamp_granularities: granularities = [], stream = false } = body;
  const wordTimes = granularities.includes("word");
  checkFormat(format, stream, wordTimes);
  return {
    model: body.model,
    request: {
      translate: false,
      language: body.language === undefined || body.language === "" ? undefined : body.language.toLowerCase(),
      prompt: toPrompt(body.prompt, body.keywords),
      temperature: body.temperature ?? 0,
      wordTimes,
      speakers: toKnownSpeakers(body, format),
      stream,
    },
    format,
    stream,
    lists: { segments: granularities.length === 0 || granularities.includes("segment"), words: wordTimes },
    ignoredFields,
  };
}

function refuseUnsupported(body: z.output<typeof TranscriptionBody>): void {
  const { include = [], chunking_strategy: chunking } = body;
  if (include.length > 0) throw unsupportedValue("No model here gives what 'include' asks for.", "include");
  if (body.languages !== undefined) throw unsupportedValue("No model here takes 'languages'.", "languages");
  const setting = typeof chunking === "object" ? Object.keys(chunking).find((each) => each !== "type") : undefined;
  const message = "No model here supports settings for voice activity detection.";
  if (setting !== undefined) throw unsupportedValue(message, `chunking_strategy.${setting}`);
}

/** Keywords come first: a model that reads its prompt as the text before gives more weight to its end. */
function toPrompt(prompt = "", keywords: readonly string[] = []): string | undefined {
  const words = keywords.map((word) => word.trim()).filter((word) => word !== "");
  const list = words.length === 0 ? [] : [`${words.join(", ")}.`];
  const text = [...list, ...(prompt === "" ? [] : [prompt])].join(" ");
  return text === "" ? undefined : text;
}

function checkFormat(format: ParsedTranscription["format"], stream: boolean, wordTimes: boolean): void {
  if (stream && !STREAMED_FORMATS.has(format)) {
    const message = `A stream consists of events; with 'stream', 'response_format' must be json, text or diarized_json, not ${format}.`;
    throw invalidRequest(message, "response_format", "unsupported_value");
  }
  if (wordTimes && !stream && format !== "verbose_json" && format !== "diarized_json") {
    const message = `Only verbose_json, diarized_json and streams show the times of words; 'response_format' is ${format}.`;
    throw invalidRequest(message, "timestamp_granularities", "invalid_value");
  }
}

/** Validates the form of a translation into English. Throws a Fault whose `param` names the first invalid field. */
export function toTranslation(fields: Fields, policy: UnknownFieldsPolicy): ParsedTranscription {
  const sent = gather(fields);
  const fieldNames = Object.keys(TranslationBody.shape);
  const ignoredFields = checkUnknownFields(sent, { known: fieldNames, unsupported: {}, policy });
  const body = parse(TranslationBody, sent);
  const prompt = body.prompt === "" ? undefined : body.prompt;
  const temperature = body.temperature ?? 0;
  return {
    model: body.model,
    request: { translate: true, language: undefined, prompt, temperature, wordTimes: false, stream: false },
    format: toTranslationFormat(body.response_format),
    stream: false,
    lists: { segments: true, words: false },
    ignoredFields,
  };
}

function toTranslationFormat(format: TranscriptFormat = "json"): TranscriptFormat {
  if (format !== "diarized_json") return format;
  throw unsupportedValue("Translations have no speaker diarization.", "response_format");
}

function toKnownSpeakers(
  body: z.output<typeof TranscriptionBody>,
  format: TranscriptFormat,
): KnownSpeakers | undefined {
  const { known_speaker_names: names = [], known_speaker_references: references = [] } = body;
  if (names.length !== references.length) {
    const message = `Each known speaker needs a name and a reference; there are ${names.length} names and ${references.length} references.`;
    throw invalidRequest(message, "known_speaker_names", "invalid_value");
  }
  const invalid = references.findIndex((reference) => !DATA_URL.test(reference));
  if (invalid >= 0) {
    const message = "Each reference must be a data URL such as data:audio/wav;base64,….";
    throw invalidRequest(message, `known_speaker_references[${invalid}]`, "invalid_value");
  }
  if (format === "diarized_json") return { names, references };
  if (names.length === 0) return undefined;
  const message = `Only diarized_json shows speakers; 'response_format' is ${format}.`;
  throw invalidRequest(message, "known_speaker_names", "invalid_value");
}

const STREAMED_FORMATS: ReadonlySet<string> = new Set(["json", "text", "diarized_json"]);

const LISTS: ReadonlySet<string> = new Set([
  "timestamp_granularities",
  "include",
  "known_speaker_names",
  "known_speaker_references",
  "keywords",
  "languages",
]);
const PART_OF_OBJECT = /^(\w+)\[(\w+)\]$/;

/** Collects fields: clients send lists as `name[]` or as repeated `name`, and objects as `name[key]` or as JSON. */
function gather(fields: Fields): Record<string, unknown> {
  const body: Record<string, unknown> = Object.create(null);
  // The upload check refuses a file sent as text. Forms send unset fields as empty strings.
  for (const [name, value] of [...fields].filter((field) => field[0] !== "file" && field[1] !== "")) {
    const plain = name.replace(/\[\d*\]$/, "");
    const [, object, key] = PART_OF_OBJECT.exec(plain) ?? [];
    if (LISTS.has(plain)) {
      body[plain] = [...((body[plain] as string[] | undefined) ?? []), value];
      continue;
    }
    if (object !== undefined && key !== undefined) {
      body[object] = { ...(body[object] as object | undefined), [key]: value };
      continue;
    }
    if (plain in body) throw invalidRequest(`The field '${plain}' was sent more than once.`, plain, "invalid_value");
    body[plain] = plain === "chunking_strategy" && value.startsWith("{") ? fromJson(plain, value) : value;
  }
  return { ...body };
}

function fromJson(name: string, value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    throw invalidRequest(`The field '${name}' is not valid JSON.`, name, "invalid_value");
  }
}
