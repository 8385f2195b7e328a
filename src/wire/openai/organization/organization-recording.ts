/** What a project records of its requests, and what was recorded. Not in OpenAI's API. */

import { z } from "zod";
import { lazy } from "../../../kernel/lazy.ts";
import { listOf } from "../../../kernel/list-of.ts";
import { type AnswerOf, named } from "../../openapi/named.ts";
import type { ProjectRecording } from "../../openapi/project-policy-answers.ts";

const MEBIBYTE = 2 ** 20;
const DEFAULT_DAYS = 7;
const DEFAULT_BYTES = 1024 * MEBIBYTE;

export const RecordingBody = named(
  "RecordingBody",
  lazy.strictObject(() => ({
    record_content: z
      .enum(["off", "errors", "all"])
      .describe("off: nothing. errors: prompts and answers of requests that failed. all: those of every request."),
    share: z.number().gt(0).max(1).default(1).describe("Part of the requests, drawn at random."),
    keep_days: z.int().min(1).max(3650).default(DEFAULT_DAYS).describe("Days to keep the content."),
    max_bytes: z
      .int()
      .min(MEBIBYTE)
      .max(2 ** 50)
      .default(DEFAULT_BYTES)
      .describe("Maximum bytes that the project stores, compressed; beyond it, the oldest content is removed."),
    redact: listOf(z.enum(["pii", "secrets"]))
      .max(2)
      .default(["pii", "secrets"])
      .describe("What is masked before it is written, in addition to what the guardrails of the request mask."),
    search: z
      .boolean()
      .default(true)
      .describe("Whether full-text search finds the content, by keyed hashes of its words."),
  })),
);

export type RecordingSettings = z.output<typeof RecordingBody>;

/** Stands for settings that a newer version wrote and this one cannot read, and for a project without any. */
export const NO_RECORDING: RecordingSettings = RecordingBody.parse({ record_content: "off" });

export function parseRecordingSettings(json: string): RecordingSettings {
  const parsed = RecordingBody.safeParse(JSON.parse(json));
  return parsed.success ? parsed.data : NO_RECORDING;
}

export function toProjectRecording(settings: RecordingSettings): AnswerOf<typeof ProjectRecording> {
  return { object: "project.recording" as const, ...settings };
}
