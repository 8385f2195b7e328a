/**
 * Validates answers whose schema the grammar enforces only in part, and samples again where they do not match. Answers are
 * sent when they are complete: an invalid one could not be taken back.
 */

import type { ChatEvent, ChatRequest } from "../../contracts/chat-model.ts";
import { Fault } from "../../kernel/faults.ts";
import { addTokens, NO_USAGE, type TokenUsage } from "../../kernel/usage.ts";
import { schemaPool, toSchemaRequest } from "./compile-schemas.ts";
import { withSchemaFaults } from "./schema-fault.ts";

type Chat = (request: ChatRequest, signal: AbortSignal) => AsyncIterable<ChatEvent>;
type ChoiceEvent = Extract<ChatEvent, { choice: number }>;
type Validate = (text: string) => Promise<string | undefined>;

/** Answers to one request, the first included. */
const ATTEMPTS = 4;

/** Temperature of further attempts: a greedy answer would be the same again. */
const RETRY_TEMPERATURE = 0.8;

/** Validators of the parts of an answer that grammars enforce only in part. */
interface Checks {
  /** Paths of the keywords that no grammar enforces. */
  keywords: readonly string[];
  text: Validate | undefined;
  /** By the name of the tool. */
  calls: ReadonlyMap<string, Validate>;
}

/** Calls `chat`, whose request includes its grammars. Throws a Fault when no attempt is valid. */
export async function* checkedChat(request: ChatRequest, signal: AbortSignal, chat: Chat): AsyncGenerator<ChatEvent> {
  const checks = await checksOf(request, signal);
  if (checks === undefined) {
    yield* chat(request, signal);
    return;
  }
  const choices = new Map<number, readonly ChoiceEvent[]>();
  let open = Array.from({ length: request.choices }, (_, index) => index);
  let start: ChatEvent | undefined;
  let usage: TokenUsage = NO_USAGE;
  let violation = "";
  for (let attempt = 0; attempt < ATTEMPTS && open.length > 0; attempt += 1) {
    const answer = await collect(chat(attemptOf(request, attempt, open.length), signal));
    start ??= answer.start;
    if (answer.usage === undefined) return;
    usage = addTokens(usage, answer.usage);
    const invalid: number[] = [];
    for (const [position, choice] of open.entries()) {
      const events = answer.choices.get(position) ?? [];
      const problem = await findViolation(events, checks, usage);
      choices.set(choice, events);
      if (problem === undefined) continue;
      invalid.push(choice);
      violation = problem;
    }
    open = invalid;
  }
  if (open.length > 0) throw unfit(violation, checks.keywords, usage);
  if (start !== undefined) yield start;
  yield* inOrder(choices);
  yield { type: "finish", usage };
}

function* inOrder(choices: ReadonlyMap<number, readonly ChoiceEvent[]>): Generator<ChatEvent> {
  for (const [choice, events] of [...choices].sort(([left], [right]) => left - right)) {
    for (const event of events) yield { ...event, choice };
  }
}

async function checksOf(
  { format, tools, project = "" }: ChatRequest,
  signal: AbortSignal,
): Promise<Checks | undefined> {
  const formatPaths = format.type === "json-schema" ? (format.grammar?.unenforced ?? []) : [];
  const partial = tools.filter(({ grammar }) => grammar !== undefined && grammar.unenforced.length > 0);
  if (formatPaths.length === 0 && partial.length === 0) return undefined;
  const schemas = toSchemaRequest({ project }, signal);
  const compile = (schema: unknown, param: string) =>
    withSchemaFaults(() => schemaPool.compileValidator(schema, param, schemas));
  const calls = new Map<string, Validate>();
  for (const { name, parameters, param } of partial) calls.set(name, await compile(parameters, param));
  return {
    keywords: [...formatPaths, ...partial.flatMap(({ grammar }) => grammar?.unenforced ?? [])],
    text:
      format.type === "json-schema" && formatPaths.length > 0 ? await compile(format.schema, format.param) : undefined,
    calls,
  };
}

function attemptOf(request: ChatRequest, attempt: number, choices: number): ChatRequest {
  if (attempt === 0) return request;
  const { seed, temperature } = request;
  return {
    ...request,
    choices,
    seed: seed === undefined ? undefined : seed + attempt,
    temperature: Math.max(temperature, RETRY_TEMPERATURE),
  };
}

async function collect(events: AsyncIterable<ChatEvent>) {
  const choices = new Map<number, ChoiceEvent[]>();
  let start: ChatEvent | undefined;
  let usage: TokenUsage | undefined;
  for await (const event of events) {
    if (event.type === "start") start = event;
    else if (event.type === "finish") usage = event.usage;
    else {
      const choice = choices.get(event.choice) ?? [];
      choice.push(event);
      choices.set(event.choice, choice);
    }
  }
  return { start, choices, usage };
}

/** The first violation of a complete choice; choices that were cut off pass, since they are marked as such. */
async function findViolation(
  events: readonly ChoiceEvent[],
  checks: Checks,
  used: TokenUsage,
): Promise<string | undefined> {
  const reason = events.findLast((event) => event.type === "choice-end")?.reason;
  if (reason !== "stop" && reason !== "tool_calls") return undefined;
  try {
    for (const call of callsIn(events)) {
      const violation = await checks.calls.get(call.name)?.(call.text);
      if (violation !== undefined) return violation;
    }
    return reason === "stop" ? await checks.text?.(textIn(events)) : undefined;
  } catch (failure) {
    if (!(failure instanceof Fault)) throw failure;
    const { kind, message, param, code, cause } = failure;
    throw new Fault(kind, message, { param, code, cause, used });
  }
}

function textIn(events: readonly ChoiceEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.text : "")).join("");
}

function callsIn(events: readonly ChoiceEvent[]): Iterable<{ name: string; text: string }> {
  const calls = new Map<number, { name: string; text: string }>();
  for (const event of events) {
    if (event.type === "tool-call") calls.set(event.index, { name: event.name, text: "" });
    const call = event.type === "tool-arguments" ? calls.get(event.index) : undefined;
    if (call !== undefined && event.type === "tool-arguments") call.text += event.text;
  }
  return calls.values();
}

function unfit(violation: string, keywords: readonly string[], used: TokenUsage): Fault {
  const message = `The model wrote ${ATTEMPTS} answers that its schema does not allow: ${violation}. Generation does not enforce ${keywords.slice(0, 3).join(", ")}: leave it out, or try again or a larger model.`;
  return new Fault("answer-unfit", message, { code: "answer_unfit", used });
}
