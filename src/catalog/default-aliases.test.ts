import type OpenAI from "openai";
import { expect, test } from "vitest";
import type { Task } from "../contracts/task.ts";
import type { ModelSpec } from "./build-catalog.ts";
import { withDefaultAliases, withFirstAliases } from "./default-aliases.ts";

/** Names of a union that also allows any other text. */
type Literals<Names> = Names extends string ? (string extends Names ? never : Names) : never;
type Name =
  | OpenAI.AudioModel
  | OpenAI.Audio.SpeechModel
  | OpenAI.EmbeddingModel
  | OpenAI.ModerationModel
  | OpenAI.ImageModel
  | Literals<OpenAI.Realtime.AudioTranscription["model"]>
  | Literals<OpenAI.Realtime.RealtimeSessionCreateRequest["model"]>;

/** Every name in the types of the SDK but chat models: one that is missing does not compile. */
const TASKS: Readonly<Record<Name, Task>> = {
  "whisper-1": "transcription",
  "gpt-transcribe": "transcription",
  "gpt-4o-transcribe": "transcription",
  "gpt-4o-mini-transcribe": "transcription",
  "gpt-4o-mini-transcribe-2025-12-15": "transcription",
  "gpt-4o-transcribe-diarize": "transcription",
  "gpt-live-transcribe": "transcription",
  "gpt-realtime-whisper": "transcription",
  "tts-1": "speech",
  "tts-1-hd": "speech",
  "gpt-4o-mini-tts": "speech",
  "gpt-4o-mini-tts-2025-12-15": "speech",
  "text-embedding-ada-002": "embedding",
  "text-embedding-3-small": "embedding",
  "text-embedding-3-large": "embedding",
  "omni-moderation-latest": "moderation",
  "omni-moderation-2024-09-26": "moderation",
  "text-moderation-latest": "moderation",
  "text-moderation-stable": "moderation",
  "gpt-image-1.5": "image",
  "gpt-image-2": "image",
  "gpt-image-2-2026-04-21": "image",
  "gpt-image-2.5-sunburst": "image",
  "gpt-image-2.5-sunburst-2026-09-08": "image",
  "gpt-image-2.5-flare": "image",
  "gpt-image-2.5-flare-2026-09-08": "image",
  "gpt-image-2.6-sunburst": "image",
  "gpt-image-2.6-flare": "image",
  "gpt-image-1": "image",
  "gpt-image-1-mini": "image",
  "chatgpt-image-latest": "image",
  "dall-e-2": "image",
  "dall-e-3": "image",
  "gpt-realtime": "chat",
  "gpt-realtime-1.5": "chat",
  "gpt-realtime-2": "chat",
  "gpt-realtime-2.1": "chat",
  "gpt-realtime-2.1-mini": "chat",
  "gpt-realtime-2025-08-28": "chat",
  "gpt-4o-realtime-preview": "chat",
  "gpt-4o-realtime-preview-2024-10-01": "chat",
  "gpt-4o-realtime-preview-2024-12-17": "chat",
  "gpt-4o-realtime-preview-2025-06-03": "chat",
  "gpt-4o-mini-realtime-preview": "chat",
  "gpt-4o-mini-realtime-preview-2024-12-17": "chat",
  "gpt-realtime-mini": "chat",
  "gpt-realtime-mini-2025-10-06": "chat",
  "gpt-realtime-mini-2025-12-15": "chat",
  "gpt-audio-1.5": "chat",
  "gpt-audio-mini": "chat",
  "gpt-audio-mini-2025-10-06": "chat",
  "gpt-audio-mini-2025-12-15": "chat",
};

function spec(id: string, task: Task): ModelSpec {
  return { id, task, aliases: [], isBuiltin: true, isHidden: false } as unknown as ModelSpec;
}

test.each(Object.entries(TASKS))("gives %s to the default model of %s", (name, task) => {
  const tasks: Task[] = ["chat", "image", "moderation", "speech", "transcription", "embedding"];
  const models = withFirstAliases(withDefaultAliases(tasks.map((each) => spec(each, each))));
  const exact = models.filter(({ aliases }) => aliases.includes(name));
  const prefixed = models.filter(({ aliases }) =>
    aliases.some((alias) => alias.endsWith("*") && name.startsWith(alias.slice(0, -1))),
  );
  const matches = exact.length > 0 ? exact : prefixed;
  expect(matches.map(({ id }) => id)).toEqual([task]);
});
