/** What requests of tasks other than chat record: texts, and results that are short. */

import type { ContentMessage, ContentPart } from "../../contracts/chat-content.ts";
import type { EmbeddingInput, RerankRequest, RerankResult } from "../../contracts/embedding-model.ts";
import type { ImageRequest } from "../../contracts/image-model.ts";
import type { ModerationInput } from "../../contracts/moderation-model.ts";
import type { SpeechRequest } from "../../contracts/speech-model.ts";
import type { TranscriptionEvent, TranscriptionRequest } from "../../contracts/transcription-model.ts";
import type { ModerationVerdicts } from "../adapters/moderation-adapter.ts";
import type { RecordedContent } from "./request-recording.ts";

const textPart = (content: string): ContentPart => ({ type: "text", content });
const message = (role: string, parts: readonly ContentPart[], name?: string): ContentMessage => ({
  role,
  ...(name !== undefined && { name }),
  parts,
});

/** Vectors are not recorded. */
export function embeddingContent(inputs: readonly EmbeddingInput[]): RecordedContent {
  const parts = inputs.map((input) => textPart(typeof input === "string" ? input : `[${input.length} token IDs]`));
  return { inputMessages: [message("user", parts)], outputMessages: [] };
}

export function rerankContent(
  { query, documents }: Pick<RerankRequest, "query" | "documents">,
  results: readonly RerankResult[],
): RecordedContent {
  const scores = results.flatMap((each) => [...each.scores]);
  return {
    inputMessages: [message("user", [textPart(query)], "query"), message("user", documents.map(textPart), "documents")],
    outputMessages: scores.length === 0 ? [] : [message("assistant", [textPart(JSON.stringify(scores))])],
  };
}

export function moderationContent(
  inputs: readonly ModerationInput[],
  results: readonly ModerationVerdicts[],
): RecordedContent {
  const flagged = results.flatMap((verdicts) =>
    verdicts.map(({ flags }) => Object.keys(flags).filter((category) => flags[category])),
  );
  return {
    inputMessages: inputs.map(({ text, images }) =>
      message("user", [textPart(text), ...images.map((): ContentPart => ({ type: "blob", modality: "image" }))]),
    ),
    outputMessages: flagged.length === 0 ? [] : [message("assistant", [textPart(JSON.stringify({ flagged }))])],
  };
}

/** Audio is not recorded. */
export function speechContent({ text, instructions }: Pick<SpeechRequest, "text" | "instructions">): RecordedContent {
  return {
    inputMessages: [
      ...(instructions === undefined ? [] : [message("system", [textPart(instructions)])]),
      message("user", [textPart(text)]),
    ],
    outputMessages: [message("assistant", [{ type: "blob", modality: "audio" }])],
  };
}

/** Images are not recorded, only that they were there. */
export function imageContent({
  prompt,
  images,
  count,
}: Pick<ImageRequest, "prompt" | "images" | "count">): RecordedContent {
  const inputs = images.map(({ name }): ContentPart => ({ type: "blob", modality: "image", name }));
  const outputs = Array.from({ length: count }, (): ContentPart => ({ type: "blob", modality: "image" }));
  return {
    inputMessages: [message("user", [...(prompt === "" ? [] : [textPart(prompt)]), ...inputs])],
    outputMessages: [message("assistant", outputs)],
  };
}

/** The audio is recorded as the name of its file only. */
export function transcriptionContent(
  { prompt, file: { name } }: Pick<TranscriptionRequest, "prompt" | "file">,
  events: readonly TranscriptionEvent[],
): RecordedContent {
  const text = textOf(events).trim();
  return {
    inputMessages: [
      ...(prompt === undefined ? [] : [message("system", [textPart(prompt)])]),
      message("user", [{ type: "blob", modality: "audio", name }]),
    ],
    outputMessages: text === "" ? [] : [message("assistant", [textPart(text)])],
  };
}

/** Deltas repeat as segments, whose times are not recorded. */
function textOf(events: readonly TranscriptionEvent[]): string {
  let text = "";
  for (const event of events) {
    if (event.type === "delta") text += event.text;
    else if (event.type === "segment" && !event.isStreamed) text += `${text === "" ? "" : " "}${event.text.trim()}`;
  }
  return text;
}
