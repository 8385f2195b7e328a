/** Responses of a session, one at a time. */

import { invalidRequest } from "../../kernel/faults.ts";
import { repeatedIndex } from "../../kernel/repeated-index.ts";
import type { ResponseParameters } from "../../wire/realtime/client-events.ts";
import { type ConversationItem, toItem } from "../../wire/realtime/conversation-items.ts";
import type { Conversation } from "./conversation.ts";
import { type CancelReason, ResponseRun } from "./response-run.ts";
import type { SessionContext } from "./session-context.ts";
import type { SessionTools } from "./session-tools.ts";
import type { Transcriber } from "./transcriber.ts";

export interface SessionResponsesOptions {
  context: SessionContext;
  conversation: Conversation;
  transcriber: Transcriber;
  tools: SessionTools;
}

export class SessionResponses {
  readonly #options: SessionResponsesOptions;
  #active: ResponseRun | undefined;

  constructor(options: SessionResponsesOptions) {
    this.#options = options;
  }

  get isActive(): boolean {
    return this.#active !== undefined;
  }

  /** Starts a response; the promise resolves once it has ended, however it does. Throws a Fault while another one runs. */
  create(parameters: ResponseParameters): Promise<void> {
    if (this.#active !== undefined) {
      const message = `The response ${this.#active.id} is still running. Wait for its response.done, or cancel it.`;
      throw invalidRequest(message, undefined, "conversation_already_has_active_response");
    }
    const { context, conversation } = this.#options;
    const inputItems = this.#ownItems(parameters);
    const run = new ResponseRun({
      context,
      parameters,
      readItems: async () => {
        const items = inputItems ?? conversation.items;
        await this.#options.transcriber.settled(items.map(({ id }) => id));
        await this.#options.tools.settled();
        return items;
      },
      tools: this.#options.tools,
      addItem: parameters.conversation === "none" ? undefined : (item) => this.#add(item),
      onSpoken: (id, spoken) => conversation.setSpoken(id, spoken),
    });
    this.#active = run;
    return run.run().finally(() => {
      this.#active = undefined;
    });
  }

  /** Throws a Fault when no such response runs. */
  cancel(id: string | undefined): void {
    if (this.#active === undefined || (id !== undefined && id !== this.#active.id)) {
      throw invalidRequest("No such response is running.", "response_id", "response_cancel_not_active");
    }
    this.#active.cancel("client_cancelled");
  }

  interrupt(reason: CancelReason): void {
    this.#active?.cancel(reason);
  }

  /** Returns the input of the response itself; undefined: the conversation. */
  #ownItems({ input }: ResponseParameters): ConversationItem[] | undefined {
    if (input !== undefined) checkReferences(input);
    return input?.map((each, index) => {
      if (each.type === "item_reference") return this.#options.conversation.get(each.id);
      const { item, audio } = toItem(each);
      if (audio.length === 0) return item;
      const message = "The input of a response takes no audio; create an item of the conversation with it.";
      throw invalidRequest(message, `response.input[${index}]`, "invalid_value");
    });
  }

  #add(item: ConversationItem): string | null {
    const { context, conversation } = this.#options;
    const previousId = conversation.add(item);
    for (const item_id of conversation.trim()) context.send({ type: "conversation.item.deleted", item_id });
    return previousId;
  }
}

/** Throws a Fault for an item that is named twice: a prompt could have the conversation thousands of times. */
function checkReferences(input: NonNullable<ResponseParameters["input"]>): void {
  const index = repeatedIndex(input.map((each, at) => (each.type === "item_reference" ? each.id : `\0${at}`)));
  if (index === -1) return;
  throw invalidRequest("An earlier entry names this item too.", `response.input[${index}].id`, "invalid_value");
}
