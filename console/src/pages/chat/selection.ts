/** Models of a conversation, and what they can do. */

import type { ModelEntry } from "../../api/models.ts";
import { NO_PARAMETERS, type Parameters } from "./conversation.ts";

/** What the chosen models can do; a parameter that none of them has is hidden. */
export interface ChatBounds {
  reasoning: boolean;
  tools: boolean;
  jsonSchema: boolean;
  logprobs: boolean;
  /** Context window of the smallest model; undefined when unknown. */
  maxTokens: number | undefined;
  /** Choices of one request. */
  maxChoices: number;
}

/** More than these would not be read. */
const MAX_CHOICES = 8;
/** Parameters that the composer shows. */
const IN_COMPOSER: ReadonlySet<string> = new Set([
  ...["vectorStores", "mcpServers", "webSearch", "codeInterpreter", "imageGeneration", "allowedTools"],
]);

/** Models of the chat that exist, otherwise the first one, and what they can do. */
export function selectionOf(models: ModelEntry[], ids: readonly string[]) {
  const [first] = models;
  const available = ids.filter((id) => models.some((model) => model.id === id));
  const chosen = available.length > 0 || first === undefined ? available : [first.id];
  const selected = models.filter(({ id }) => chosen.includes(id));
  // What an upstream does not say is tried.
  const blind = selected.filter(({ metadata }) => metadata.capabilities.vision === false).map(({ id }) => id);
  return { chosen, bounds: boundsOf(selected), blind };
}

function boundsOf(models: ModelEntry[]): ChatBounds {
  const some = (name: keyof ModelEntry["metadata"]["capabilities"]) =>
    models.some(({ metadata }) => metadata.capabilities[name] !== false);
  const windows = models.flatMap(({ metadata }) => metadata.max_output_tokens ?? []);
  const choices = models.flatMap(({ metadata }) => Number(metadata.capabilities.max_choices ?? MAX_CHOICES));
  return {
    reasoning: models.some(({ metadata }) => metadata.capabilities.reasoning === true),
    logprobs: models.length > 0 && models.every(({ metadata }) => metadata.capabilities.logprobs === true),
    tools: some("tools"),
    jsonSchema: some("json_schema"),
    maxTokens: windows.length === 0 ? undefined : Math.min(...windows),
    maxChoices: Math.min(MAX_CHOICES, ...choices),
  };
}

/** How many parameters of the drawer differ from what the model does by itself. */
export function countChanged(parameters: Parameters): number {
  const defaults: Readonly<Record<string, unknown>> = { ...NO_PARAMETERS };
  return Object.entries(parameters).filter(
    ([name, value]) => !IN_COMPOSER.has(name) && JSON.stringify(value) !== JSON.stringify(defaults[name]),
  ).length;
}
