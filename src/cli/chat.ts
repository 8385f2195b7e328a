/** `parlance chat`: a conversation with a chat model of a running service. */

import { createInterface, type Interface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { styleText } from "node:util";
import { Command } from "commander";
import { Fault } from "../kernel/faults.ts";
import { firstChatModel } from "./first-chat-model.ts";
import { readEvents } from "./read-events.ts";
import type { ServiceClient } from "./service-client.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

interface ChatOptions extends ServiceOptions {
  system?: string;
  json?: true;
}

interface Message {
  role: "system" | "user" | "assistant";
  content: string;
}

interface Chunk {
  error?: { message: string };
  choices?: { delta: { content?: string | null; reasoning_content?: string | null } }[];
  usage?: { completion_tokens: number } | null;
}

interface Answer {
  content: string;
  completionTokens: number | undefined;
  seconds: number;
}

const DEFAULT_SYSTEM = "You are a helpful assistant.";
const HELP = "/clear forgets the conversation, /exit ends it. Ctrl-C stops an answer.";

export function chatCommand(): Command {
  return new Command("chat")
    .argument("[model]", "ID or alias of a chat model; default: the first one")
    .option("--system <text>", "system message", DEFAULT_SYSTEM)
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option("--key <key>", "API key; default: $PARLANCE_KEY, or a temporary one")
    .option("--json", "print the answer as JSON; the prompt comes from standard input")
    .addHelpText("after", `\n${HELP}\nWithout a terminal, standard input is one prompt, and the answer is printed.`)
    .action((model: string | undefined, options: ChatOptions) =>
      withService("project", options, (client) => run(client, model, options)),
    );
}

async function run(client: ServiceClient, wanted: string | undefined, options: ChatOptions): Promise<void> {
  const model = wanted ?? (await firstChatModel(client));
  const messages: Message[] = options.system ? [{ role: "system", content: options.system }] : [];
  if (!process.stdin.isTTY || options.json === true) return askOnce(client, model, messages, options.json === true);
  await converse(client, model, messages);
}

async function askOnce(client: ServiceClient, model: string, messages: Message[], isJson: boolean): Promise<void> {
  messages.push({ role: "user", content: (await text(process.stdin)).trim() });
  const write = isJson ? () => {} : (piece: string) => void process.stdout.write(piece);
  const { content, completionTokens } = await ask(client, { model, messages, write }, new AbortController().signal);
  if (isJson)
    console.log(JSON.stringify({ model, content, completion_tokens: completionTokens ?? null }, undefined, 2));
  else process.stdout.write("\n");
}

async function converse(client: ServiceClient, model: string, messages: Message[]): Promise<void> {
  const first = [...messages];
  const dim = (words: string) => styleText("dim", words, { stream: process.stdout });
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  process.stdout.write(`${model} at ${client.origin}. ${HELP}\n`);
  try {
    for (;;) {
      const prompt = await nextPrompt(lines, "\n> ");
      if (prompt === undefined || prompt === "/exit" || prompt === "/quit" || prompt === "/bye") return;
      if (prompt === "/clear") messages.splice(0, messages.length, ...first);
      else if (prompt.startsWith("/")) process.stdout.write(`${HELP}\n`);
      if (prompt === "" || prompt.startsWith("/")) continue;
      messages.push({ role: "user", content: prompt });
      const stopping = new AbortController();
      const stop = () => stopping.abort();
      lines.on("SIGINT", stop);
      let shown = "";
      const write = (piece: string) => {
        shown += piece;
        process.stdout.write(piece);
      };
      try {
        const { completionTokens, seconds } = await ask(client, { model, messages, write }, stopping.signal);
        const speed = completionTokens === undefined ? "" : `${(completionTokens / seconds).toFixed(1)} tokens/s`;
        process.stdout.write(`\n${dim(speed)}\n`);
      } catch (failure) {
        if (stopping.signal.aborted) process.stdout.write(dim(" (stopped)\n"));
        else if (failure instanceof Fault) console.error(`error: ${failure.message}`);
        else throw failure;
      } finally {
        lines.off("SIGINT", stop);
      }
      // What was shown is part of the conversation, also where the answer was stopped.
      if (shown === "") messages.pop();
      else messages.push({ role: "assistant", content: shown });
    }
  } finally {
    lines.close();
  }
}

/** Undefined at the end of the input, and for Ctrl-C. */
async function nextPrompt(lines: Interface, prompt: string): Promise<string | undefined> {
  const ended = new AbortController();
  const end = () => ended.abort();
  lines.once("close", end).once("SIGINT", end);
  try {
    return (await lines.question(prompt, { signal: ended.signal })).trim();
  } catch (failure) {
    if (!ended.signal.aborted) throw failure;
    process.stdout.write("\n");
    return undefined;
  } finally {
    lines.off("close", end).off("SIGINT", end);
  }
}

async function ask(
  client: ServiceClient,
  { model, messages, write }: { model: string; messages: readonly Message[]; write: (piece: string) => void },
  signal: AbortSignal,
): Promise<Answer> {
  const body = { model, messages, stream: true, stream_options: { include_usage: true } };
  const response = await client.send("POST", "/v1/chat/completions", body, signal);
  const startedAt = performance.now();
  let content = "";
  let completionTokens: number | undefined;
  for await (const event of readEvents(response)) {
    const { error, choices, usage } = event as Chunk;
    if (error !== undefined) throw new Fault("upstream-failed", error.message);
    const piece = choices?.[0]?.delta.content ?? "";
    content += piece;
    if (piece !== "") write(piece);
    completionTokens = usage?.completion_tokens ?? completionTokens;
  }
  return { content, completionTokens, seconds: (performance.now() - startedAt) / 1000 };
}
