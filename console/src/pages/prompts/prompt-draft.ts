/** Content of a version as the fields of its form. */

import { t } from "../../i18n/translate.ts";
import { variablesIn } from "./prompt-text.ts";
import type { PromptContent, PromptVariable } from "./prompts-api.ts";

export const VARIABLE_TYPES = ["text", "number", "boolean", "enum", "json", "image", "file"] as const;

interface VariableDraft {
  type: PromptVariable["type"];
  /** Between commas. */
  options: string;
  default: string;
  description?: string | undefined;
}

interface MessageDraft {
  key: string;
  role: PromptContent["messages"][number]["role"];
  content: string;
}

export interface PromptDraft {
  messages: MessageDraft[];
  variables: Record<string, VariableDraft>;
  model: string | null;
  temperature: number | string;
  maxOutputTokens: number | string;
  /** JSON of the settings without a field. */
  further: string;
}

const TEXT: VariableDraft = { type: "text", options: "", default: "" };
const FIRST: PromptContent = { messages: [{ role: "developer", content: "" }], variables: [] };

export function draftOf(content: PromptContent = FIRST): PromptDraft {
  const { messages, variables, model, temperature, max_output_tokens: max, ...further } = content;
  return {
    messages: messages.map(({ role, content: text }, index) => ({ key: String(index), role, content: text })),
    variables: Object.fromEntries(
      variables.map(({ name, type, options = [], default: value = "", description }) => [
        name,
        { type, options: options.join(", "), default: String(value), description },
      ]),
    ),
    model: model ?? null,
    temperature: temperature ?? "",
    maxOutputTokens: max ?? "",
    further: Object.keys(further).length === 0 ? "" : JSON.stringify(further, undefined, 2),
  };
}

/** Variables of the messages, with what the draft says of each. */
export function typesFor({ messages, variables }: Pick<PromptDraft, "messages" | "variables">) {
  return variablesIn(messages).map((name) => ({ name, ...(variables[name] ?? TEXT) }));
}

/** Throws for settings that are not JSON. */
export function toContent(draft: PromptDraft): PromptContent {
  const { messages, model, temperature, maxOutputTokens, further } = draft;
  return {
    ...parseSettings(further),
    messages: messages.map(({ role, content }) => ({ role, content })),
    variables: typesFor(draft).map(({ name, type, options, default: value, description }) => ({
      name,
      type,
      ...(description !== undefined && { description }),
      ...(type === "enum" && { options: splitOptions(options) }),
      ...(value !== "" && type !== "image" && type !== "file" && { default: toDefault(type, value) }),
    })),
    ...(model !== null && model !== "" && { model }),
    ...(temperature !== "" && { temperature: Number(temperature) }),
    ...(maxOutputTokens !== "" && { max_output_tokens: Number(maxOutputTokens) }),
  };
}

function splitOptions(options: string): string[] {
  return options.split(",").flatMap((option) => option.trim() || []);
}

function toDefault(type: PromptVariable["type"], value: string): string | number | boolean {
  if (type === "number" && Number.isFinite(Number(value))) return Number(value);
  if (type === "boolean" && (value === "true" || value === "false")) return value === "true";
  return value;
}

function parseSettings(text: string): object {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Reported below.
  }
  throw new Error(t("The further settings must be a JSON object."));
}
