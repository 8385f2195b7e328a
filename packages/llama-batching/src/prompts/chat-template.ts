/** Renders messages to a prompt with the model's own chat template. */

import { Template } from "@huggingface/jinja";
import { toTemplateCallId } from "../call-id.ts";
import { ModelError, RequestError } from "../errors.ts";
import type { PromptMessage, Tool, ToolCall } from "../types.ts";
import { amendTemplate } from "./template-amendments.ts";
import { templateVariables } from "./template-variables.ts";

/** The most common format, for model files without a template. */
const CHATML =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

export interface TemplateVariables {
  /** Texts of the model's BOS and EOS tokens, "" if it has none. */
  bos_token: string;
  eos_token: string;
}

export interface RenderInput {
  messages: readonly PromptMessage[];
  tools?: readonly Pick<Tool, "name" | "description" | "parameters">[];
  /** Additional variables, such as `enable_thinking`. */
  extra?: Readonly<Record<string, unknown>>;
  /** False: renders the conversation without the beginning of an answer. */
  forAnswer?: boolean;
}

export class ChatTemplate {
  readonly source: string;
  /** Names of the variables that the template reads. */
  readonly variables: ReadonlySet<string>;
  /** Some templates expect a call's arguments as text. */
  argumentsAsText = false;
  /** Some templates read content only as a list of parts and ignore a plain string. */
  readonly #contentAsParts: boolean;
  readonly #template: Template;
  readonly fixed: TemplateVariables;

  /** `source` undefined: ChatML. Throws a ModelError when the source does not parse. */
  constructor(source: string | undefined, fixed: TemplateVariables) {
    this.source = source ?? CHATML;
    this.fixed = fixed;
    try {
      this.#template = new Template(amendTemplate(this.source));
    } catch (error) {
      throw new ModelError(`The model's chat template does not parse: ${(error as Error).message}`, 600, error);
    }
    this.variables = templateVariables(this.#template.parsed);
    this.#contentAsParts = !this.#shows(PROBE) && this.#shows(toParts(PROBE));
  }

  /** Whether the prompt contains a message's content of this form. */
  #shows(content: unknown): boolean {
    try {
      return this.#template.render({ ...this.fixed, messages: [{ role: "user", content }] }).includes(PROBE);
    } catch {
      return false;
    }
  }

  /** Throws a RequestError with the template's message when it refuses the input, as some do with a system message. */
  render({ messages, tools = [], extra = {}, forAnswer = true }: RenderInput): string {
    try {
      return this.#template.render({
        ...extra,
        ...this.fixed,
        ...(tools.length === 0 ? {} : { tools: tools.map(toTemplateTool) }),
        messages: this.#toTemplateMessages(messages),
        add_generation_prompt: forAnswer,
      });
    } catch (error) {
      throw new RequestError(
        `This model's chat template refuses these messages: ${(error as Error).message}`,
        "messages",
      );
    }
  }

  #toTemplateMessages(messages: readonly PromptMessage[]): object[] {
    // Some clients reuse the same IDs in every round: the latest call before a result counts.
    const functionNames = new Map<string, string>();
    return messages.map((message) => {
      const { toolCalls = [], toolCallId } = message;
      const functionName = toolCallId === undefined ? undefined : functionNames.get(toolCallId);
      for (const { id, name } of toolCalls) functionNames.set(id, name);
      return this.#toTemplateMessage(message, functionName);
    });
  }

  #toTemplateMessage(
    { role, content, toolCalls = [], toolCallId, name }: PromptMessage,
    functionName: string | undefined,
  ): object {
    return {
      role: role === "developer" ? "system" : role,
      content: this.#contentAsParts ? toParts(content) : content,
      ...(toolCalls.length === 0 ? {} : { tool_calls: toolCalls.map((call) => this.#toTemplateCall(call)) }),
      ...(toolCallId === undefined ? {} : { tool_call_id: toTemplateCallId(toolCallId) }),
      ...((functionName ?? name) === undefined ? {} : { name: functionName ?? name }),
    };
  }

  #toTemplateCall({ id, name, arguments: text }: ToolCall): Record<string, unknown> {
    return {
      id: toTemplateCallId(id),
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
