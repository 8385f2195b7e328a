import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { reportIgnoredFields } from "../../http/report-ignored-fields.ts";
import { sendAnswer } from "../../http/send-answer.ts";
import { sendEvents } from "../../http/send-events.ts";
import { type ChatAnswer, isLocal } from "../../inference/chat-call.ts";
import type { Inference } from "../../inference/inference.ts";
import { type Fault, invalidRequest } from "../../kernel/faults.ts";
import { toAnswerParts } from "../../wire/answer-parts.ts";
import { toForwardedAnswer, toForwardedFrames } from "../../wire/forwarded-answer.ts";
import { toChatModeration } from "../../wire/openai/chat/chat-moderation.ts";
import { toErrorBody } from "../../wire/openai/error.ts";
import { toRateLimitHeaders } from "../../wire/openai/rate-limit-headers.ts";
import type { UnknownFieldsPolicy } from "../../wire/openai/unknown-fields.ts";
import { throwForResponses } from "../../wire/responses/error-params.ts";
import {
  type CompleteResponse,
  ResponseEvents,
  toErrorEventFrame,
  toResponse,
  toResponseFrame,
  toResponseFrames,
} from "../../wire/responses/response-events.ts";
import { KNOWN_FIELDS, type ResponsesBody, readResponsesBody } from "../../wire/responses/responses-body.ts";
import { toResponsesCall, toTypedCall } from "../../wire/responses/responses-call.ts";
import type { Prompt } from "../../wire/responses/responses-input.ts";
import { readTools } from "../../wire/responses/responses-tools.ts";
import { SequenceNumbers } from "../../wire/responses/sequence-numbers.ts";
import { toStoredItems } from "../../wire/responses/stored-items.ts";
import { ignoredFields } from "../../wire/responses/unsupported-fields.ts";
import type { Caller } from "../accounts/caller.ts";
import type { BodyContent } from "../files/content-resolver.ts";
import { startBackground } from "./background-runs.ts";
import { resolvePrompt } from "./resolve-prompt.ts";
import type { ResponseStorage } from "./response-storage.ts";
import type { NewResponse } from "./response-store.ts";
import { isStorable, MAX_STORED_CHARACTERS, MAX_STORED_ITEMS } from "./storable.ts";

interface ResponseParts {
  /** Undefined: nothing is stored. */
  storage: ResponseStorage | undefined;
  /** Gives a caller the priority of responses in the background. */
  toBackground: (caller: Caller) => Caller;
  content: BodyContent;
}

/** POST /v1/responses and /v1/responses/input_tokens */
export function responses(
  inference: Inference,
  policy: UnknownFieldsPolicy,
  { storage, toBackground, content }: ResponseParts,
): FastifyPluginAsync {
  return async (app) => {
    app.post("/responses", async (request, reply) => {
      const { body, prompt, tools } = await read(request);
      const { caller } = request;
      const isSmall = isStorable(prompt.input);
      if (!isSmall) refuseLargeInput(body);
      const store = storage !== undefined && body.store !== false && isSmall;
      // What is stored keeps its references, which later turns read again.
      const { context, input } = await content(reply, { model: body.model, ...prompt, tools: body.tools }, [
        "context",
        "input",
        "tools",
      ]);
      const complete = { context, input };
      const call = toResponsesCall(body, complete, { tools, callerHeaders: request.headers, store, policy });
      const names = { names: tools.names, summarizes: body.reasoning?.summary !== undefined };
      if (storage !== undefined && body.background === true) {
        reportIgnoredFields(reply, ignoredFields(body, KNOWN_FIELDS, true));
        const queued = toNewResponse(request, body, prompt);
        const run = {
          inference,
          storage,
          caller: toBackground(caller),
          call: toTypedCall(call),
          body,
          queued,
          ...names,
        };
        const started = await startBackground(run, request.id);
        if (body.stream !== true) return started.response;
        return sendEvents(reply, toResponseFrames(started.events));
      }
      const options = { moderation: body.moderation, onDisconnect: onDisconnect(reply) };
      const answer = await inference
        .chat(caller, call, options)
        .catch((failure: unknown) => throwForResponses(failure, body));
      const save = async (response: CompleteResponse) => {
        if (storage === undefined || (!store && body.conversation === undefined)) return false;
        return storage.save(toNewResponse(request, body, prompt)(response.id, response), store);
      };
      if (answer.form === "forwarded") return sendForwarded(reply, answer, body.stream === true, save);
      reportIgnoredFields(reply, ignoredFields(body, KNOWN_FIELDS, isLocal(answer)));
      const { model, moderation: found } = answer;
      const rendered = new ResponseEvents({
        body,
        model,
        ...names,
        moderation: () => found && toChatModeration(found),
        store,
        save,
      });
      const events = rendered.of(toAnswerParts(answer, true));
      if (body.stream !== true) return sendAnswer(reply, answer, { body: toResponse(events) });
      return sendAnswer(reply, answer, {
        events: toResponseFrames(events),
        toErrorFrame: (failure) => toResponseFrame(rendered.failed(toErrorBody(failure, request.id))),
      });
    });

    app.post("/responses/input_tokens", async (request, reply) => {
      const { body, prompt, tools } = await read(request);
      reportIgnoredFields(reply, ignoredFields(body, KNOWN_FIELDS, true));
      const call = toResponsesCall(body, prompt, { tools, callerHeaders: request.headers, store: false, policy });
      const counted = await inference.countPromptTokens(request.caller, toTypedCall(call).request);
      reply.headers(toRateLimitHeaders(counted.rateLimitStatus));
      reply.header("x-parlance-token-count", counted.isEstimate ? "estimate" : "exact");
      return { object: "response.input_tokens", input_tokens: counted.promptTokens };
    });

    async function read(request: FastifyRequest) {
      const body = readResponsesBody(request.body);
      request.record.model = body.model;
      const tools = readTools(body.tools ?? []);
      const prompt = await resolvePrompt(storage, projectOf(request), body);
      return { body, prompt, tools };
    }
  };
}

/** Sends the answer of an upstream that has the Responses API, with the store of this service. */
function sendForwarded(
  reply: FastifyReply,
  answer: Extract<ChatAnswer, { form: "forwarded" }>,
  isStreamed: boolean,
  save: (response: CompleteResponse) => Promise<boolean>,
): unknown {
  const store = async (response: CompleteResponse) => {
    response.store = await save(response);
  };
  if (!isStreamed) {
    return sendAnswer(reply, answer, {
      body: toForwardedAnswer(answer.events, (response) => store(response as CompleteResponse)),
    });
  }
  const numbers = new SequenceNumbers();
  return sendAnswer(reply, answer, {
    events: numbers.follow(toForwardedFrames(answer.events, ({ response }) => store(response as CompleteResponse))),
    toErrorFrame: (failure) => toErrorEventFrame(toErrorBody(failure, reply.request.id), numbers.next),
  });
}

/** Refuses input that has to be stored and is too large for it; other responses say `store: false`. */
function refuseLargeInput({ background, conversation }: ResponsesBody): void {
  if (background !== true && conversation === undefined) return;
  throw tooLargeToStore("input", background === true ? "in the background" : "to a conversation");
}

export function tooLargeToStore(param: "input" | "items", where: string): Fault {
  const limit = `${MAX_STORED_CHARACTERS} characters in ${MAX_STORED_ITEMS} items`;
  return invalidRequest(`'${param}' is too large to be sent ${where}: the limit is ${limit}.`, param, "invalid_value");
}

/** Returns the project of the caller; keys without one are refused before any route. */
export function projectOf({ caller }: Pick<FastifyRequest, "caller">): string {
  return caller.projectId ?? "";
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
    input: toStoredItems(prompt.input),
    output,
  });
}
