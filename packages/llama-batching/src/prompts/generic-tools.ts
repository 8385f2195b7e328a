/** Tools for chat templates without a place for them, in the ChatML form that Hermes and Qwen models are trained on. */

import type { ToolCallFormat } from "../output/tool-call-format.ts";
import type { PromptMessage, Tool, ToolCall } from "../types.ts";
import type { ChatTemplate } from "./chat-template.ts";

export const GENERIC_TOOL_FORMAT: ToolCallFormat = {
  trigger: "<tool_call>",
  open: '\n{"name": "',
  afterName: '", "arguments": ',
  between: '}\n</tool_call>\n<tool_call>\n{"name": "',
  close: "}\n</tool_call>",
};

export class GenericTools {
  /** Some templates, such as Gemma's, refuse system messages or ignore them. */
  readonly #hasSystemRole: boolean;

  constructor(template: ChatTemplate) {
    this.#hasSystemRole = showsSystemMessage(template);
  }

  /** Messages without tool calls, tool results or tools, which became text. */
  toPlainMessages(messages: readonly PromptMessage[], tools: readonly Tool[]): readonly PromptMessage[] {
    const usesTools = messages.some(({ role, toolCalls = [] }) => role === "tool" || toolCalls.length > 0);
    const plain = usesTools ? toText(messages) : messages;
    return tools.length === 0 ? plain : this.#withInstructions(plain, describeTools(tools));
  }

  #withInstructions(messages: readonly PromptMessage[], instructions: string): readonly PromptMessage[] {
    const [first, ...rest] = messages;
    const role = this.#hasSystemRole ? "system" : "user";
    if (first?.role === role || (role === "system" && first?.role === "developer")) {
      const parts = role === "system" ? [first.content, instructions] : [instructions, first.content];
      return [{ ...first, content: parts.filter((part) => part !== "").join("\n\n") }, ...rest];
    }
    return [{ role, content: instructions }, ...messages];
  }
}

function describeTools(tools: readonly Tool[]): string {
  const definitions = tools.map(({ name, description, parameters }) =>
    JSON.stringify({
      type: "function",
      function: {
        name,
        ...(description === undefined ? {} : { description }),
        parameters: parameters ?? { type: "object", properties: {} },
      },
    }),
  );
  return [
    "You may call functions to help with the user's request. Their signatures:",
    `<tools>\n${definitions.join("\n")}\n</tools>`,
    "To call a function, answer with a JSON object of its name and arguments:",
    '<tool_call>\n{"name": <function-name>, "arguments": <arguments-object>}\n</tool_call>',
  ].join("\n");
}

/** Consecutive results share one user message, since many templates require alternating roles. */
function toText(messages: readonly PromptMessage[]): PromptMessage[] {
  const plain: PromptMessage[] = [];
  let results: string[] = [];
  const flush = () => {
    if (results.length > 0) plain.push({ role: "user", content: results.join("\n") });
    results = [];
  };
  for (const { role, content, toolCalls = [], name } of messages) {
    if (role === "tool") {
      results.push(`<tool_response>\n${content}\n</tool_response>`);
      continue;
    }
    flush();
    const calls = toolCalls.map(callText);
    plain.push({
      role,
      content: [content, ...calls].filter((part) => part !== "").join("\n"),
      ...(name === undefined ? {} : { name }),
    });
  }
  flush();
  return plain;
}

function callText({ name, arguments: text }: ToolCall): string {
  const { trigger, open, afterName, close } = GENERIC_TOOL_FORMAT;
  return `${trigger}${open}${name}${afterName}${text}${close}`;
}

const PROBE = "are system messages shown";

function showsSystemMessage(template: ChatTemplate): boolean {
  try {
    const messages: PromptMessage[] = [
      { role: "system", content: PROBE },
      { role: "user", content: "Hi" },
    ];
    return template.render({ messages }).includes(PROBE);
  } catch {
    return false;
  }
}
