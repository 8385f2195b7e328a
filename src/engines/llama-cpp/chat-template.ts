/** A model's own chat template: turns messages into the text that the model was trained to answer. */

import { Template } from "@huggingface/jinja";
import { invalidRequest, unavailable } from "../../faults.ts";
import type { ChatMessage } from "../chat-model.ts";

/** The most common format, for files that bring none. */
const CHATML =
  "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}" +
  "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}";

export interface TemplateVariables {
  /** Texts of the tokens that begin and end a text, "" for models without. */
  bos_token: string;
  eos_token: string;
}

export class ChatTemplate {
  readonly #template: Template;
  readonly #variables: TemplateVariables;

  /** `source` undefined: ChatML. Throws a Fault when it is no template. */
  constructor(source: string | undefined, variables: TemplateVariables) {
    this.#variables = variables;
    try {
      this.#template = new Template(source ?? CHATML);
    } catch (error) {
      throw unavailable(
        `The model's chat template cannot be read: ${(error as Error).message}`,
        "engine_failed",
        600,
        error,
      );
    }
  }

  /** Throws a Fault with the template's own words when it refuses the messages, as some do with a system message. */
  render(messages: readonly ChatMessage[]): string {
    try {
      return this.#template.render({
        ...this.#variables,
        messages: messages.map(({ role, content }) => ({ role: role === "developer" ? "system" : role, content })),
        add_generation_prompt: true,
      });
    } catch (error) {
      throw invalidRequest(
        `This model's chat template refuses these messages: ${(error as Error).message}`,
        "messages",
      );
    }
  }
}
