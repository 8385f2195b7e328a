/** OpenAI's, Anthropic's and Google's model names as aliases, for clients that send them by default. */

import type { Task } from "../contracts/task.ts";
import type { ModelSpec } from "./build-catalog.ts";

const DEFAULT_ALIASES: Readonly<Partial<Record<Task, readonly string[]>>> = {
  transcription: [
    "whisper-1",
    "gpt-transcribe",
    "gpt-live-transcribe",
    "gpt-4o-transcribe",
    "gpt-4o-transcribe-diarize",
    "gpt-4o-mini-transcribe",
    "gpt-4o-mini-transcribe-2025-12-15",
    "gpt-realtime-whisper",
  ],
  speech: ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "gpt-4o-mini-tts-2025-12-15"],
  embedding: ["text-embedding-3-small", "text-embedding-3-large", "text-embedding-ada-002"],
  moderation: [
    "omni-moderation-latest",
    "omni-moderation-2024-09-26",
    "text-moderation-latest",
    "text-moderation-stable",
  ],
};

/**
 * Aliases of the first model of a task: of chat, every ID that Claude Code and gemini-cli ask for, their small models among
 * them, and the defaults of clients of the Realtime API; of embedding, those of Gemini's clients, which `gemini-*` would
 * match; of image, those that image panels send. They change with each version.
 */
const FIRST_ALIASES: Readonly<Partial<Record<Task, readonly string[]>>> = {
  chat: ["claude-*", "gemini-*", "gpt-realtime*", "gpt-4o-realtime-*", "gpt-4o-mini-realtime-*", "gpt-audio-*"],
  embedding: ["gemini-embedding-*"],
  image: ["dall-e-*", "gpt-image-*", "chatgpt-image-*"],
};

/**
 * Adds the aliases to the first model of each task, built in or configured. Any ID, alias or wildcard that matches a
 * name goes before them.
 */
export function withFirstAliases(models: readonly ModelSpec[]): ModelSpec[] {
  const aliasNames = models.flatMap(({ aliases }) => aliases);
  const additions = new Map<ModelSpec, readonly string[]>();
  for (const [task, names] of Object.entries(FIRST_ALIASES)) {
    const first = models.find((model) => model.task === task && !model.isHidden && !model.id.endsWith("/*"));
    if (first === undefined) continue;
    additions.set(
      first,
      names.filter((alias) => !aliasNames.some((each) => covers(each, alias))),
    );
  }
  return models.map((model) => {
    const added = additions.get(model);
    return added === undefined ? model : { ...model, aliases: [...model.aliases, ...added] };
  });
}

/** Whether the first alias is the second one, or a prefix that matches each ID of the second one. */
function covers(alias: string, other: string): boolean {
  return alias === other || (alias.endsWith("*") && other.startsWith(alias.slice(0, -1)));
}

/**
 * Adds the aliases to the first built-in model of each task. A configured ID or alias of the same name wins, and a task
 * without a built-in model gets none.
 */
export function withDefaultAliases(models: readonly ModelSpec[]): ModelSpec[] {
  const usedNames = new Set(models.flatMap(({ id, aliases }) => [id, ...aliases]));
  const firsts = new Set(Object.keys(DEFAULT_ALIASES).map((task) => firstBuiltin(models, task)));
  return models.map((model) => {
    if (!firsts.has(model)) return model;
    const free = (DEFAULT_ALIASES[model.task] ?? []).filter((alias) => !usedNames.has(alias));
    return { ...model, aliases: [...model.aliases, ...free] };
  });
}

function firstBuiltin(models: readonly ModelSpec[], task: string): ModelSpec | undefined {
  return models.find((model) => model.isBuiltin && model.task === task);
}
