/** A model's own chat template: turns messages into the text that the model was trained to answer. */

import { Template } from "@huggingface/jinja";
import { invalidRequest, unavailable } from "../../faults.ts";
import type { ChatMessage, Tool, ToolCall } from "../chat-model.ts";
import { variablesOf } from "./template-variables.ts";

/** The most common format, for files that bring none. */
const CHATML =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

export interface TemplateVariables {
  /** Texts of the tokens that begin and end a text, "" for models without. */
  bos_token: string;
  eos_token: string;
}

export interface Rendering {
  messages: readonly ChatMessage[];
  tools?: readonly Pick<Tool, "name" | "description" | "parameters">[];
  /** Further variables, such as `enable_thinking`. */
  extra?: Readonly<Record<string, unknown>>;
  /** False: the conversation as it was, without the beginning of an answer. */
  forAnswer?: boolean;
}

export class ChatTemplate {
  readonly source: string;
  /** Which variables it looks at. */
  readonly variables: ReadonlySet<string>;
  /** Some templates want a call's arguments as text. */
  argumentsAsText = false;
  /** Others read a message's text only as a part of a list, and would show none of a plain one. */
  readonly #contentAsParts: boolean;
  readonly #template: Template;
  readonly #fixed: TemplateVariables;

  /** `source` undefined: ChatML. Throws a Fault when it is no template. */
  constructor(source: string | undefined, fixed: TemplateVariables) {
    this.source = source ?? CHATML;
    this.#fixed = fixed;
    try {
      this.#template = new Template(this.source);
    } catch (error) {
      throw unavailable(
        `The model's chat template cannot be read: ${(error as Error).message}`,
        "engine_failed",
        600,
        error,
      );
    }
    this.variables = variablesOf(this.#template.parsed);
    this.#contentAsParts = !this.#shows(PROBE) && this.#shows(toParts(PROBE));
  }

  /** Whether a message's text is in the prompt. */
  #shows(content: unknown): boolean {
    try {
      return this.#template.render({ ...this.#fixed, messages: [{ role: "user", content }] }).includes(PROBE);
    } catch {
      return false;
    }
  }

  /** Throws a Fault with the template's own words when it refuses the messages, as some do with a system message. */
  render({ messages, tools = [], extra = {}, forAnswer = true }: Rendering): string {
    try {
      return this.#template.render({
        ...this.#fixed,
        ...extra,
        ...(tools.length === 0 ? {} : { tools: tools.map(toTemplateTool) }),
        messages: messages.map((message, index) => this.#toTemplateMessage(message, messages.slice(0, index))),
        add_generation_prompt: forAnswer,
      });
    } catch (error) {
      throw invalidRequest(
        `This model's chat template refuses these messages: ${(error as Error).message}`,
        "messages",
      );
    }
  }

  #toTemplateMessage(message: ChatMessage, before: readonly ChatMessage[]): Record<string, unknown> {
    const { role, content, toolCalls = [], toolCallId } = message;
    // Some clients use the same ids in each round.
    const answered =
      toolCallId === undefined
        ? undefined
        : before.flatMap((each) => each.toolCalls ?? []).findLast(({ id }) => id === toolCallId);
    return {
      role: role === "developer" ? "system" : role,
      content: this.#contentAsParts ? toParts(content) : content,
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map((call) => this.#toTemplateCall(call)) }),
      ...(toolCallId === undefined ? {} : { tool_call_id: toolCallId }),
      ...(answered === undefined ? {} : { name: answered.name }),
    };
  }

  #toTemplateCall({ id, name, arguments: text }: ToolCall): Record<string, unknown> {
    return {
      id,
      type: "function",
      function: { name, arguments: this.argumentsAsText ? text : (JSON.parse(text) as unknown) },
    };
  }
}

const PROBE = "is this text shown";

const toParts = (text: string) => [{ type: "text", text }];

function toTemplateTool({ name, description, parameters }: Pick<Tool, "name" | "description" | "parameters">): object {
  return {
    type: "function",
    function: {
      name,
      description: description ?? "",
      parameters: parameters ?? { type: "object", properties: {} },
    },
  };
}
