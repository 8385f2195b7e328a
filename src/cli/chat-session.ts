/** Conversation of `parlance chat`: its model, system message and settings, which commands change. */

import { invalidRequest } from "../kernel/faults.ts";
import { type ContentPart, readChatFile } from "./chat-files.ts";

export interface Message {
  role: "system" | "user" | "assistant";
  content: string | ContentPart[];
}

interface ChatModels {
  /** IDs of the chat models. */
  list(): Promise<readonly string[]>;
  /** Throws a Fault where the key may use no such model. */
  check(id: string): Promise<void>;
}

export const CHAT_HELP = `/model [ID]          lists the chat models, or changes the model
/system [TEXT]       shows or sets the system message; /system none removes it
/set [NAME [VALUE]]  shows the settings; sets one, such as temperature 0.2, or removes it
/file PATH           adds a text file or an image to the next message
/clear               forgets the conversation
/exit                ends it; Ctrl-C stops an answer`;

/** What the command itself sends. */
const RESERVED: ReadonlySet<string> = new Set(["model", "messages", "stream", "stream_options"]);

export class ChatSession {
  model: string;
  #system: string;
  readonly #settings = new Map<string, unknown>();
  readonly #messages: Message[] = [];
  #files: ContentPart[] = [];
  readonly #models: ChatModels;

  constructor(model: string, system: string, models: ChatModels) {
    this.model = model;
    this.#system = system;
    this.#models = models;
  }

  /** Fields of the request for the next answer. */
  body(): Record<string, unknown> {
    const system: Message[] = this.#system === "" ? [] : [{ role: "system", content: this.#system }];
    return { ...Object.fromEntries(this.#settings), model: this.model, messages: [...system, ...this.#messages] };
  }

  /** Asks with the files that were added. */
  ask(content: string): void {
    const files = this.#files;
    this.#files = [];
    this.#messages.push({
      role: "user",
      content: files.length === 0 ? content : [...files, { type: "text", text: content }],
    });
  }

  /** Adds a file to the next message. Throws a Fault for one that cannot be sent. */
  async addFile(path: string): Promise<void> {
    this.#files.push(await readChatFile(path));
  }

  /** Adds what was shown, also of a stopped answer. An empty answer removes its question. */
  answered(content: string): void {
    if (content === "") this.#messages.pop();
    else this.#messages.push({ role: "assistant", content });
  }

  /** Runs a line such as `/model owl`. Resolves with what to print. Throws a Fault for a wrong one. */
  async run(line: string): Promise<string> {
    const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
    switch (name) {
      case "model":
        return this.#chooseModel(rest);
      case "system":
        return this.#setSystem(rest);
      case "set":
        return this.#set(rest);
      case "file":
        if (rest === "") throw invalidRequest("Name a file, such as `/file notes.txt`.");
        await this.addFile(rest);
        return `${rest} goes with the next message.`;
      case "clear":
        this.#messages.length = 0;
        this.#files = [];
        return "Forgot the conversation.";
      case "help":
      case "?":
        return CHAT_HELP;
      default:
        throw invalidRequest(`There is no command \`/${name}\`.\n${CHAT_HELP}`);
    }
  }

  async #chooseModel(id: string): Promise<string> {
    if (id === "") {
      const ids = await this.#models.list();
      return ids.map((each) => `${each === this.model ? "*" : " "} ${each}`).join("\n");
    }
    await this.#models.check(id);
    this.model = id;
    return `Talking to ${id}.`;
  }

  #setSystem(text: string): string {
    if (text !== "") this.#system = text === "none" ? "" : text;
    return this.#system === "" ? "No system message." : `System message: ${this.#system}`;
  }

  #set(rest: string): string {
    const [, name = "", value = ""] = /^(\S*)\s*([\s\S]*)$/.exec(rest) ?? [];
    if (RESERVED.has(name))
      throw invalidRequest(`\`${name}\` cannot be set. /model and /system change what they name.`);
    if (name !== "" && value === "") this.#settings.delete(name);
    else if (name !== "") this.#settings.set(name, parseValue(value));
    const lines = [...this.#settings].map(([each, set]) => `${each} = ${JSON.stringify(set)}`);
    return lines.length === 0 ? "No settings." : lines.join("\n");
  }
}

/** JSON, or text. */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
