/** OpenAI's and Anthropic's model names as aliases, for clients that send them by default. */

import type { Task } from "../engines/task.ts";
import type { ModelSpec } from "./build-catalog.ts";

const DEFAULT_ALIASES: Readonly<Partial<Record<Task, readonly string[]>>> = {
  transcription: ["whisper-1", "gpt-4o-transcribe", "gpt-4o-mini-transcribe"],
  speech: ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"],
  embedding: ["text-embedding-3-small", "text-embedding-ada-002"],
  moderation: ["omni-moderation-latest", "text-moderation-latest"],
};

/** Every ID that Claude Code asks for, its small model among them; they change with each of its versions. */
const CLAUDE_ALIAS = "claude-*";

/**
 * Adds `claude-*` as an alias of the first chat model, built in or configured. Any ID, alias or wildcard that matches a
 * name goes before it.
 */
export function withClaudeAlias(models: readonly ModelSpec[]): ModelSpec[] {
  const first = models.find(({ id, task, isHidden }) => task === "chat" && !isHidden && !id.endsWith("/*"));
  const isTaken = models.some(({ aliases }) => aliases.includes(CLAUDE_ALIAS));
  return models.map((model) =>
    model === first && !isTaken ? { ...model, aliases: [...model.aliases, CLAUDE_ALIAS] } : model,
  );
}

/**
 * Adds the aliases to the first built-in model of each task. A configured ID or alias of the same name wins, and a task
 * without a built-in model gets none.
 */
export function withDefaultAliases(models: readonly ModelSpec[]): ModelSpec[] {
  const taken = new Set(models.flatMap(({ id, aliases }) => [id, ...aliases]));
  const firsts = new Set(Object.keys(DEFAULT_ALIASES).map((task) => firstBuiltin(models, task)));
  return models.map((model) => {
    if (!firsts.has(model)) return model;
    const free = (DEFAULT_ALIASES[model.task] ?? []).filter((alias) => !taken.has(alias));
    return { ...model, aliases: [...model.aliases, ...free] };
  });
}

function firstBuiltin(models: readonly ModelSpec[], task: string): ModelSpec | undefined {
  return models.find((model) => model.isBuiltin && model.task === task);
}
