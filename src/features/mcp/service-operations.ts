/** The service's operations as MCP tools: each is one request to the API, with the client's key. */

import { z } from "zod";
import type { Task } from "../../contracts/task.ts";
import { lazy } from "../../kernel/lazy.ts";
import { parseEvents } from "../../kernel/server-sent-events.ts";
import type { CallToolResult } from "./mcp-connection.ts";

interface ServiceRequest {
  path: string;
  /** Undefined: the request has the method GET. */
  body?: Buffer;
  contentType?: string;
}

export interface ServiceOperation {
  name: string;
  title: string;
  description: string;
  input: z.ZodObject;
  /** Task of the model that it needs; a project without such a model does not see the tool. */
  task?: Task;
  /** `model`: the first model of the task, for inputs that name none. */
  toRequest(input: Readonly<Record<string, unknown>>, model: string): ServiceRequest;
  toResult(body: string, input: Readonly<Record<string, unknown>>): CallToolResult;
}

const Model = z.string().min(1).optional().describe("ID of the model. Default: the first one that the key may use.");
const AUDIO_TYPES = { mp3: "audio/mpeg", wav: "audio/wav", opus: "audio/ogg", flac: "audio/flac" } as const;

const text = (value: string): CallToolResult => ({ content: [{ type: "text", text: value }] });
const json = (path: string, body: object): ServiceRequest => ({ path, body: Buffer.from(JSON.stringify(body)) });

/** Returns the answer as text, and as structured content. */
function structured(body: string): CallToolResult {
  return { ...text(body), structuredContent: JSON.parse(body) as Record<string, unknown> };
}

export const SERVICE_OPERATIONS: readonly ServiceOperation[] = [
  {
    name: "list_models",
    title: "List models",
    description: "Lists the models that the key may use.",
    input: z.object({}),
    toRequest: () => ({ path: "/v1/models" }),
    toResult: structured,
  },
  {
    name: "chat",
    title: "Chat",
    description: "Asks a chat model of this service.",
    task: "chat",
    input: lazy.object(() => ({
      prompt: z.string().min(1),
      system: z.string().optional().describe("Instructions for the model."),
      model: Model,
      max_tokens: z.int().min(1).optional(),
      temperature: z.number().min(0).max(2).optional(),
    })),
    toRequest: ({ prompt, system, model, max_tokens: maxTokens, temperature }, first) =>
      json("/v1/chat/completions", {
        model: model ?? first,
        messages: [
          ...(system === undefined ? [] : [{ role: "system", content: system }]),
          { role: "user", content: prompt },
        ],
        max_completion_tokens: maxTokens,
        temperature,
      }),
    toResult: (body) => {
      const { choices } = JSON.parse(body) as { choices: { message: { content: string | null; refusal?: string } }[] };
      const message = choices[0]?.message;
      return text(message?.content ?? message?.refusal ?? "");
    },
  },
  {
    name: "transcribe",
    title: "Transcribe",
    description: "Writes down what is said in a recording.",
    task: "transcription",
    input: lazy.object(() => ({
      audio: z
        .base64()
        .min(1)
        .describe("The file in base64: mp3, wav, m4a, ogg, flac, webm or any other that FFmpeg reads."),
      language: z.string().min(2).max(10).optional().describe("ISO 639-1 code. Default: it is detected."),
      format: z.enum(["text", "srt", "vtt", "verbose_json"]).default("text"),
      model: Model,
    })),
    toRequest: ({ audio, language, format, model }, first) => {
      const fields = {
        model: model ?? first,
        response_format: format ?? "text",
        ...(language !== undefined && { language }),
      };
      return multipart(
        "/v1/audio/transcriptions",
        fields as unknown as Record<string, string>,
        Buffer.from(String(audio), "base64"),
      );
    },
    toResult: (body, { format }) => (format === "verbose_json" ? structured(body) : text(body)),
  },
  {
    name: "speak",
    title: "Speak",
    description: "Reads a text aloud.",
    task: "speech",
    input: lazy.object(() => ({
      text: z.string().min(1).max(4096),
      voice: z.string().min(1).default("alloy"),
      format: z.enum(["mp3", "wav", "opus", "flac"]).default("mp3"),
      speed: z.number().min(0.25).max(4).optional(),
      model: Model,
    })),
    toRequest: ({ text: input, voice = "alloy", format = "mp3", speed, model }, first) =>
      json("/v1/audio/speech", {
        model: model ?? first,
        input,
        voice,
        response_format: format,
        speed,
        stream_format: "sse",
      }),
    toResult: (body, { format = "mp3" }) => {
      const pieces = parseEvents(body).flatMap(({ data }) => {
        const { audio } = JSON.parse(data) as { audio?: string };
        return audio === undefined ? [] : [Buffer.from(audio, "base64")];
      });
      const mimeType = AUDIO_TYPES[format as keyof typeof AUDIO_TYPES];
      return { content: [{ type: "audio", data: Buffer.concat(pieces).toString("base64"), mimeType }] };
    },
  },
  {
    name: "moderate",
    title: "Moderate",
    description: "Rates a text by categories of harm.",
    task: "moderation",
    input: lazy.object(() => ({ text: z.string().min(1), model: Model })),
    toRequest: ({ text: input, model }, first) => json("/v1/moderations", { model: model ?? first, input }),
    toResult: structured,
  },
  {
    name: "embed",
    title: "Embed",
    description: "Returns the vectors of texts.",
    task: "embedding",
    input: lazy.object(() => ({ texts: z.array(z.string().min(1)).min(1).max(100), model: Model })),
    toRequest: ({ texts, model }, first) => json("/v1/embeddings", { model: model ?? first, input: texts }),
    toResult: structured,
  },
  {
    name: "list_vector_stores",
    title: "List vector stores",
    description: "Lists the project's stores of documents, which search_vector_store searches.",
    task: "embedding",
    input: z.object({}),
    toRequest: () => ({ path: "/v1/vector_stores?limit=100" }),
    toResult: structured,
  },
  {
    name: "search_vector_store",
    title: "Search a vector store",
    description: "Finds the passages of a store's documents that fit a question, by meaning and by words.",
    task: "embedding",
    input: lazy.object(() => ({
      vector_store_id: z.string().regex(/^[A-Za-z0-9_-]{1,100}$/),
      query: z.string().min(1),
      max_results: z.int().min(1).max(50).default(10),
    })),
    toRequest: ({ vector_store_id: store, query, max_results: max = 10 }) =>
      json(`/v1/vector_stores/${String(store)}/search`, { query, max_num_results: max }),
    toResult: structured,
  },
];

/** Operations that change nothing and cost the same each time. */
export const READ_ONLY = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };

function multipart(path: string, fields: Readonly<Record<string, string>>, file: Buffer): ServiceRequest {
  const boundary = `parlance-${crypto.randomUUID()}`;
  const part = (header: string) => `--${boundary}\r\ncontent-disposition: form-data; ${header}\r\n`;
  const texts = Object.entries(fields).map(([name, value]) => `${part(`name="${name}"`)}\r\n${value}\r\n`);
  const head = `${texts.join("")}${part('name="file"; filename="audio"')}content-type: application/octet-stream\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { path, body, contentType: `multipart/form-data; boundary=${boundary}` };
}
