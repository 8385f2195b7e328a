/** Settings of a chat as a stored prompt, which everyone in the project can open, and back. */

import type { Answers } from "../../api/answers.ts";
import { checkSchema, checkTools } from "./check-json.ts";
import { type Conversation, NO_PARAMETERS, newConversation } from "./conversation.ts";

type PromptVersion = Answers["StoredPromptVersion"];
type PromptContent = PromptVersion["content"];

interface ChatTool {
  function: Record<string, unknown>;
}

/** What is stored: a prompt needs a message, hence a system prompt. */
export function toPromptContent({ models, parameters }: Pick<Conversation, "models" | "parameters">) {
  const { system, temperature, topP, maxTokens, reasoningEffort } = parameters;
  const schema = checkSchema(parameters.schema).value;
  const tools = checkTools(parameters.tools).value as ChatTool[] | undefined;
  return {
    messages: [{ role: "system" as const, content: system }],
    ...(models[0] !== undefined && { model: models[0] }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(reasoningEffort !== undefined && { reasoning_effort: reasoningEffort }),
    ...(schema !== undefined && { format: { type: "json_schema" as const, name: "answer", schema } }),
    ...(tools !== undefined && { tools: tools.map(({ function: each }) => ({ type: "function" as const, ...each })) }),
  };
}

interface OpenedPrompt {
  conversation: Conversation;
  /** The first question of the prompt, with its placeholders. */
  draft: string;
}

/** Begins a conversation with the settings of a prompt; without a model in it, with `models`. */
export function openPrompt(content: PromptContent, models: string[]): OpenedPrompt {
  const textOf = (roles: readonly string[]) =>
    content.messages.flatMap(({ role, content: text }) => (roles.includes(role) ? [text] : [])).join("\n\n");
  const { format, tools = [] } = content;
  const json = (value: unknown) => JSON.stringify(value, undefined, 2);
  const conversation = newConversation(content.model === undefined ? models : [content.model], {
    ...NO_PARAMETERS,
    system: textOf(["system", "developer"]),
    temperature: content.temperature,
    topP: content.top_p,
    maxTokens: content.max_output_tokens,
    reasoningEffort: content.reasoning_effort,
    schema: format?.type === "json_schema" ? json(format.schema) : "",
    tools: tools.length === 0 ? "" : json(tools.map(({ type, ...definition }) => ({ type, function: definition }))),
  });
  return { conversation, draft: textOf(["user"]) };
}

/** The version that requests use: that with the label production, otherwise the newest. */
export function currentVersion(versions: readonly PromptVersion[]): PromptVersion | undefined {
  return versions.find(({ labels }) => labels.includes("production")) ?? versions[0];
}
