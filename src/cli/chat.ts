/** `parlance chat`: a conversation with a chat model of a running service. */

import { createInterface, type Interface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { styleText } from "node:util";
import { Command } from "commander";
import { Fault } from "../kernel/faults.ts";
import { CHAT_HELP, ChatSession } from "./chat-session.ts";
import { chatModels, firstChatModel } from "./first-chat-model.ts";
import { MarkdownWriter } from "./markdown-writer.ts";
import { printable } from "./printable.ts";
import { readEvents } from "./read-events.ts";
import type { ServiceClient } from "./service-client.ts";
import { startSpinner } from "./spinner.ts";
import { type ServiceOptions, withService } from "./with-service.ts";

interface ChatOptions extends ServiceOptions {
  system: string;
  file: string[];
  json?: true;
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
/** The service answers before, unless it loads the model or has no free slot. */
const LOADING_MS = 2_000;

export function chatCommand(): Command {
  return new Command("chat")
    .argument("[model]", "ID or alias of a chat model; default: the first one")
    .option("--system <text>", "system message", DEFAULT_SYSTEM)
    .option("--file <path>", "text file or image for the first message; can be repeated", addPath, [])
    .option("--url <url>", "URL of the service; default: the one that runs with this data directory")
    .option("--key <key>", "API key; default: $PARLANCE_KEY, or a temporary one")
    .option("--json", "print the answer as JSON; the prompt comes from standard input")
    .addHelpText(
      "after",
      `\nIn the conversation:\n${CHAT_HELP}\n\nWithout a terminal, standard input is one prompt, and the answer is printed.`,
    )
    .action((model: string | undefined, options: ChatOptions) =>
      withService("project", options, (client) => run(client, model, options)),
    );
}

async function run(client: ServiceClient, model: string | undefined, options: ChatOptions): Promise<void> {
  const session = new ChatSession(model ?? (await firstChatModel(client)), options.system, {
    list: () => chatModels(client),
    check: async (id) => {
      await client.send("GET", `/v1/models/${encodeURIComponent(id)}`);
    },
  });
  for (const path of options.file) await session.addFile(path);
  if (!process.stdin.isTTY || options.json === true) await askOnce(client, session, options.json === true);
  else await converse(client, session);
}

async function askOnce(client: ServiceClient, session: ChatSession, isJson: boolean): Promise<void> {
  session.ask((await text(process.stdin)).trim());
  // A file or a program gets what the model wrote.
  const shown = (piece: string) => (process.stdout.isTTY ? printable(piece) : piece);
  const write = isJson ? () => {} : (piece: string) => void process.stdout.write(shown(piece));
  const { content, completionTokens } = await readAnswer(client, session, { write }, new AbortController().signal);
  const { model } = session;
  if (isJson)
    console.log(JSON.stringify({ model, content, completion_tokens: completionTokens ?? null }, undefined, 2));
  else process.stdout.write("\n");
}

async function converse(client: ServiceClient, session: ChatSession): Promise<void> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  process.stdout.write(
    `${session.model} at ${client.origin}. /help lists the commands, /exit ends the conversation.\n`,
  );
  try {
    for (;;) {
      const prompt = await nextPrompt(lines, "\n> ");
      if (prompt === undefined || prompt === "/exit" || prompt === "/quit" || prompt === "/bye") return;
      if (prompt === "") continue;
      try {
        if (prompt.startsWith("/")) process.stdout.write(`${await session.run(prompt)}\n`);
        else await answer(client, session, prompt, lines);
      } catch (failure) {
        if (!(failure instanceof Fault)) throw failure;
        console.error(`error: ${printable(failure.message)}`);
      }
    }
  } finally {
    lines.close();
  }
}

/** Prints the answer to a prompt. Ctrl-C stops it. */
async function answer(client: ServiceClient, session: ChatSession, prompt: string, lines: Interface): Promise<void> {
  session.ask(prompt);
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  lines.on("SIGINT", stop);
  const spinner = startSpinner(process.stdout, "Waiting");
  const loading = setTimeout(() => void describeWait(client, session.model, spinner.show), LOADING_MS);
  let shown = "";
  const styled = new MarkdownWriter((text) => process.stdout.write(text), paint);
  const write = (piece: string) => {
    spinner.stop();
    shown += piece;
    styled.add(piece);
  };
  try {
    const onReasoning = () => spinner.show("Thinking");
    const { completionTokens, seconds } = await readAnswer(client, session, { write, onReasoning }, stopping.signal);
    const speed = completionTokens === undefined ? "" : `${(completionTokens / seconds).toFixed(1)} tokens/s`;
    spinner.stop();
    styled.end();
    process.stdout.write(`\n${dim(speed)}\n`);
  } catch (failure) {
    spinner.stop();
    styled.end();
    if (!stopping.signal.aborted) throw failure;
    process.stdout.write(dim(" (stopped)\n"));
  } finally {
    clearTimeout(loading);
    lines.off("SIGINT", stop);
    session.answered(shown);
  }
}

/** Says in the spinner that the model is being loaded, if it is. */
async function describeWait(client: ServiceClient, model: string, show: (text: string) => void): Promise<void> {
  const path = `/v1/models/${encodeURIComponent(model)}?include_metadata=true`;
  const described = await client.read<{ metadata?: { loaded?: boolean } }>("GET", path).catch(() => undefined);
  if (described?.metadata?.loaded === false) show(`Loading ${model}`);
}

function dim(words: string): string {
  return paint("dim", words);
}

/** Without colors where the terminal has none or `NO_COLOR` is set. */
function paint(style: Parameters<typeof styleText>[0], words: string): string {
  return styleText(style, words, { stream: process.stdout });
}

function addPath(path: string, paths: readonly string[]): string[] {
  return [...paths, path];
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

interface Listeners {
  write: (piece: string) => void;
  onReasoning?: () => void;
}

async function readAnswer(
  client: ServiceClient,
  session: ChatSession,
  { write, onReasoning }: Listeners,
  signal: AbortSignal,
): Promise<Answer> {
  const body = { ...session.body(), stream: true, stream_options: { include_usage: true } };
  const response = await client.send("POST", "/v1/chat/completions", body, signal);
  const startedAt = performance.now();
  let content = "";
  let completionTokens: number | undefined;
  for await (const event of readEvents(response)) {
    const { error, choices, usage } = event as Chunk;
    if (error !== undefined) throw new Fault("upstream-failed", error.message);
    const { content: piece, reasoning_content: reasoning } = choices?.[0]?.delta ?? {};
    if (reasoning) onReasoning?.();
    if (piece) write(piece);
    content += piece ?? "";
    completionTokens = usage?.completion_tokens ?? completionTokens;
  }
  return { content, completionTokens, seconds: (performance.now() - startedAt) / 1000 };
}
