import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { type AskChat, answerChat, formatContext } from "../../http/answer-chat.ts";
import { bodyMemoryOf, holderOf } from "../../http/body-memory.ts";
import { DetachedRun } from "../../http/detached-run.ts";
import { disconnection } from "../../http/on-disconnect.ts";
import { rawOperation, routes } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import type { EndedRequest } from "../../http/request-log.ts";
import { sendEvents } from "../../http/send-events.ts";
import type { Inference } from "../../inference/inference.ts";
import { turnBetweenParts } from "../../kernel/async/turn-between-parts.ts";
import { type Fault, invalidRequest } from "../../kernel/faults.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { Response, ResponseEvent, ResponseTokens } from "../../wire/responses/response-answers.ts";
import { type CompleteResponse, toResponseFrames } from "../../wire/responses/response-events.ts";
import { newResponse } from "../../wire/responses/response-object.ts";
import { KNOWN_FIELDS, ResponsesBody } from "../../wire/responses/responses-body.ts";
import { type ResponseChat, renderingOf, responsesFormat, toCall } from "../../wire/responses/responses-format.ts";
import type { InputItem, Prompt } from "../../wire/responses/responses-input.ts";
import { type HostedToolsPolicy, readTools, shownTools } from "../../wire/responses/responses-tools.ts";
import { toStoredItems } from "../../wire/responses/stored-items.ts";
import { loadedTools } from "../../wire/responses/tool-search.ts";
import { ignoredFields } from "../../wire/responses/unsupported-fields.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import { notStored } from "../accounts/index.ts";
import type { BodyContent } from "../files/index.ts";
import { type ServiceTools, startToolLoop } from "../tools/index.ts";
import { startBackground } from "./background-runs.ts";
import { withCompaction } from "./compact-context.ts";
import { resolvePrompt } from "./resolve-prompt.ts";
import { toResponseLoop } from "./response-loop.ts";
import type { ResponseStorage } from "./response-storage.ts";
import type { NewResponse } from "./response-store.ts";
import { isStorable, MAX_STORED_CHARACTERS, MAX_STORED_ITEMS } from "./storable.ts";

interface ResponseParts {
  /** Undefined: nothing is stored. */
  storage: ResponseStorage | undefined;
  /** Whether the project of a caller lets responses be stored. */
  mayStore: (caller: Caller) => boolean;
  /** Gives a caller the priority of responses in the background. */
  toBackground: (caller: Caller) => Caller;
  content: BodyContent;
  hostedTools: HostedToolsPolicy;
  tools: ServiceTools;
  /** Records what a response in the background asked and answered; undefined: content is not recorded. */
  recordContent: ((ended: EndedRequest) => void) | undefined;
  /** Calls of tools that this service runs in one response. */
  maxToolCalls: number;
}

/** POST /v1/responses and /v1/responses/input_tokens */
export function responses(
  inference: Inference,
  policy: UnknownFieldsPolicy,
  { storage, mayStore, toBackground, content, hostedTools, tools, maxToolCalls, recordContent }: ResponseParts,
): FastifyPluginAsync {
  return routes(
    rawOperation(
      "POST /responses",
      {
        summary: "Creates a response, streamed or not, or in the background.",
        tag: "Responses",
        permission: "project",
        counts: "by-handler",
        body: ResponsesBody,
        answer: Response,
        content: ["text/event-stream"],
        events: ResponseEvent,
        route: { config: { takesPrompt: "responses" } },
      },
      async (request, reply) => {
        const chat = await read(reply);
        const { body, prompt } = chat;
        const positions = servedBy(chat, request.caller);
        const isSmall = isStorable(prompt.input, newResponse(body, { id: "", createdAt: 0, model: body.model }, true));
        if (!isSmall) refuseLarge(body, prompt.input);
        const isAllowed = mayStore(request.caller);
        if (!isAllowed) refuseStorage(body);
        chat.store = storage !== undefined && body.store !== false && isSmall && isAllowed;
        // What is stored keeps its references, which later turns read again.
        const sent = { model: body.model, ...prompt, tools: toolsOfModel(body.tools, positions) };
        const { context, input } = await content(reply, sent, ["context", "input", "tools"]);
        chat.prompt = { context, input };
        const toStored = toNewResponse(request, body, prompt);
        if (storage !== undefined && body.background === true) {
          return answerInBackground(storage, chat, toStored, reply, positions);
        }
        const save = async (response: CompleteResponse) => {
          if (storage === undefined || (!chat.store && body.conversation === undefined)) return false;
          return storage.save(toStored(response.id, response), chat.store);
        };
        const answered = { ...chat, save };
        return answerChat(inference, responsesFormat, answered, reply, askOf(answered, request.caller, positions));
      },
    ),
    rawOperation(
      "POST /responses/input_tokens",
      {
        summary: "Counts the tokens of a response's input; an estimate for upstreams.",
        tag: "Responses",
        permission: "project",
        counts: "by-handler",
        body: ResponsesBody,
        answer: ResponseTokens,
        route: { config: { takesPrompt: "responses" } },
      },
      async (request, reply) => {
        const chat = await read(reply);
        const { caller } = request;
        // Downloads and documents are what the limit is for.
        const rateLimitStatus = await inference.admit(caller);
        const sent = { model: chat.body.model, ...chat.prompt };
        const { context, input } = await content(reply, sent, ["context", "input"], { isCounted: true });
        chat.prompt = { context, input };
        // Functions of tools that run here are not counted: their servers are not asked.
        const positions = servedBy(chat, caller);
        const served = positions && { positions, includes: [], functions: new Map() };
        chat.tools = { ...chat.tools, tools: shownTools(chat.tools), served };
        reportIgnoredFields(reply, ignoredFields(chat.body, KNOWN_FIELDS, true, served));
        const counted = await inference.measurePrompt(caller, toTypedCall(toCall(chat)).request);
        reply.headers(toRateLimitHeaders(rateLimitStatus));
        reply.header("x-parlance-token-count", counted.isEstimate ? "estimate" : "exact");
        return { object: "response.input_tokens", input_tokens: counted.promptTokens };
      },
    ),
  );

  async function read(reply: FastifyReply): Promise<ResponseChat> {
    const { request } = reply;
    const chat = responsesFormat.read(request.body, formatContext(request, policy));
    request.record.model = chat.model;
    await turnBetweenParts(request.bodyBytes);
    const promptMessages = request.promptMessages as readonly InputItem[] | undefined;
    const source = { projectId: projectOf(request), hold: holderOf(reply), promptMessages };
    const prompt = await resolvePrompt(storage, chat.body, source);
    const input = typeof prompt.input === "string" ? [] : prompt.input;
    const read = readTools(chat.body.tools ?? [], loadedTools([...prompt.context, ...input]));
    await turnBetweenParts(request.bodyBytes);
    return { ...chat, hostedTools, prompt, tools: read };
  }

  function servedBy(chat: ResponseChat, caller: Caller): ReadonlySet<number> | undefined {
    const isForwarded = () => inference.mayForward(caller, chat.model, toCall(chat).passThrough);
    return tools.servedBy(chat.body, caller, isForwarded);
  }

  /** Returns what runs a response in several turns; undefined: its model answers in one. */
  function askOf(chat: ResponseChat, caller: Caller, positions: ReadonlySet<number> | undefined) {
    const seal = storage && ((summary: string) => storage.summaries.seal(caller.projectId ?? "", summary));
    return withCompaction(chat, { inference, caller, seal, ask: loopOf(caller, positions) });
  }

  /** Returns what runs a response with tools of this service; undefined: its model alone answers. */
  function loopOf(caller: Caller, positions: ReadonlySet<number> | undefined): AskChat<ResponseChat> | undefined {
    if (positions === undefined) return undefined;
    const options = { inference, caller, maxCalls: maxToolCalls };
    return (chat, ask) => startToolLoop(options, toResponseLoop(tools, positions, chat), ask);
  }

  async function answerInBackground(
    storage: ResponseStorage,
    chat: ResponseChat,
    queued: ReturnType<typeof toNewResponse>,
    reply: FastifyReply,
    positions: ReadonlySet<number> | undefined,
  ) {
    const { request } = reply;
    const { body } = chat;
    const served = positions && { positions, includes: [], functions: new Map() };
    reportIgnoredFields(reply, ignoredFields(body, KNOWN_FIELDS, true, served));
    const caller = toBackground(request.caller);
    const run = {
      inference,
      storage,
      caller,
      counted: request.record.counted,
      ask: askOf(chat, caller, positions),
      chat,
      body,
      queued,
      run: new DetachedRun({
        ...{ id: request.id, caller, operation: "responses", model: chat.model },
        record: (ended) => {
          // The history has the request already, as it was answered.
          if (ended.recording !== undefined) recordContent?.(ended);
        },
      }),
      ...renderingOf(chat),
      holding: bodyMemoryOf(request).detach(request, reply.raw),
    };
    const { response, stored } = await startBackground(run, request.id);
    if (!chat.isStreamed) return response;
    return sendEvents(reply, toResponseFrames(storage.background.follow(stored, 0, disconnection(reply))));
  }
}

/** Refuses what has to be stored and is too large for it; other responses say `store: false`. */
function refuseLarge({ background, conversation }: ResponsesBody, input: Prompt["input"]): void {
  if (!isStorable(input)) {
    if (background === true) throw tooLargeToStore("input", "in the background");
    if (conversation !== undefined) throw tooLargeToStore("input", "to a conversation");
  } else if (background === true) {
    const message = `'input' and the fields that a response shows, such as 'instructions', 'tools' and 'text.format', are too large together for the background: the limit is ${MAX_STORED_CHARACTERS} characters. Send less, or leave out 'background'.`;
    throw invalidRequest(message, "background", "invalid_value");
  }
}

/** Refuses what works with a stored response only; other responses are not stored, whatever `store` says. */
function refuseStorage({ background, conversation }: ResponsesBody): void {
  if (background === true) throw notStored("'background: true'", "background");
  if (conversation !== undefined) throw notStored("'conversation'", "conversation");
}

export function tooLargeToStore(param: "input" | "items", where: string): Fault {
  const limit = `${MAX_STORED_CHARACTERS} characters in ${MAX_STORED_ITEMS} items`;
  return invalidRequest(`'${param}' is too large to be sent ${where}: the limit is ${limit}.`, param, "invalid_value");
}

/** Returns a function that renders a response as it is stored. */
function toNewResponse(request: FastifyRequest, body: ResponsesBody, prompt: Prompt) {
  return (id: string, { output, ...envelope }: CompleteResponse): NewResponse => ({
    projectId: projectOf(request),
    id,
    envelope,
    previousResponseId: body.previous_response_id,
    conversationId: body.conversation,
    isBackground: body.background === true,
    createdBy: request.caller.keyId,
    input: toStoredItems(prompt.input),
    output,
  });
}

/** Returns the tools without the containers of those that this service runs, whose files stay here. */
function toolsOfModel<Tool extends object>(
  tools: readonly Tool[] | undefined,
  served: ReadonlySet<number> | undefined,
) {
  return tools?.map((tool, index) => (served?.has(index) ? { ...tool, container: undefined } : tool));
}
