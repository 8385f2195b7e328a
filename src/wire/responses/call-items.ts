/** Output items of calls that the caller runs. */

import { newId } from "../../kernel/id.ts";
import type { CallerToolType } from "./caller-tool-definitions.ts";
import { CALL_PREFIXES, toCallItem, toEmptyCallItem } from "./caller-tools.ts";
import type { ItemStatus, OutputItem } from "./output-item.ts";
import type { ToolName } from "./responses-tools.ts";

/** Common state of both kinds of tool call. */
class CallItem {
  protected readonly id: string;
  protected readonly place: { item_id: string; output_index: number };
  protected readonly call: Record<string, unknown>;
  protected arguments = "";

  constructor(prefix: string, index: number, callId: string, { name, namespace }: ToolName) {
    this.id = newId(prefix);
    this.place = { item_id: this.id, output_index: index };
    this.call = { call_id: callId, name, ...(namespace === undefined ? {} : { namespace }) };
  }

  begin() {
    return [];
  }
}

export class FunctionCallItem extends CallItem implements OutputItem {
  constructor(index: number, callId: string, name: ToolName) {
    super("fc_", index, callId, name);
  }

  toJson(status: ItemStatus) {
    return { id: this.id, type: "function_call", status, ...this.call, arguments: this.arguments };
  }

  append(text: string) {
    this.arguments += text;
    return [{ type: "response.function_call_arguments.delta", ...this.place, delta: text }];
  }

  end() {
    const { name } = this.call;
    return [{ type: "response.function_call_arguments.done", ...this.place, name, arguments: this.arguments }];
  }
}

/** Custom tool call: the model calls a function of one string, and the client gets that string. */
export class CustomCallItem extends CallItem implements OutputItem {
  constructor(index: number, callId: string, name: ToolName) {
    super("ctc_", index, callId, name);
  }

  toJson(status: ItemStatus) {
    const input = status === "in_progress" ? "" : this.#input();
    return { id: this.id, type: "custom_tool_call", status, ...this.call, input };
  }

  append(text: string) {
    this.arguments += text;
    return [];
  }

  end() {
    const input = this.#input();
    return [
      { type: "response.custom_tool_call_input.delta", ...this.place, delta: input },
      { type: "response.custom_tool_call_input.done", ...this.place, input },
    ];
  }

  /** Returns the string argument, or the raw arguments if they are truncated or invalid. */
  #input(): string {
    try {
      const { input } = JSON.parse(this.arguments) as { input?: unknown };
      return typeof input === "string" ? input : this.arguments;
    } catch {
      return this.arguments;
    }
  }
}

/** Call of a tool that OpenAI defines and the caller runs. Its arguments appear once they are complete. */
export class CallerToolItem implements OutputItem {
  readonly #id: string;
  readonly #index: number;
  readonly #callId: string;
  readonly #type: CallerToolType;
  #arguments = "";

  constructor(index: number, callId: string, type: CallerToolType) {
    this.#id = newId(CALL_PREFIXES[type]);
    this.#index = index;
    this.#callId = callId;
    this.#type = type;
  }

  toJson(status: ItemStatus) {
    const item = status === "in_progress" ? undefined : toCallItem(this.#type, this.#callId, this.#arguments);
    const ended = item === undefined && status === "completed" ? "incomplete" : status;
    return { id: this.#id, status: ended, ...(item ?? toEmptyCallItem(this.#type, this.#callId)) };
  }

  begin() {
    return [];
  }

  append(text: string) {
    this.#arguments += text;
    return [];
  }

  end() {
    if (this.#type !== "shell") return [];
    const { action } = (toCallItem(this.#type, this.#callId, this.#arguments) ?? {}) as {
      action?: { commands: unknown };
    };
    const commands = Array.isArray(action?.commands) ? action.commands.map(String) : [];
    return commands.flatMap((command, command_index) => {
      const place = { output_index: this.#index, command_index };
      return [
        { type: "response.shell_call_command.added", ...place, command: "" },
        { type: "response.shell_call_command.delta", ...place, delta: command },
        { type: "response.shell_call_command.done", ...place, command },
      ];
    });
  }
}
