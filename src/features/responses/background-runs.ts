/** Starts responses that run without a connection of their client. */

import type { Caller } from "../../contracts/caller.ts";
import { type AskChat, runWithin } from "../../http/answer-chat.ts";
import type { Holding } from "../../http/body-memory.ts";
import type { DetachedRun } from "../../http/detached-run.ts";
import type { ChatAnswer } from "../../inference/chat-call.ts";
import type { Inference } from "../../inference/inference.ts";
import type { OnDisconnect } from "../../inference/on-disconnect.ts";
import type { CountedRequest } from "../../inference/quota.ts";
import { Fault } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { toAnswerParts } from "../../wire/answer-parts.ts";
import { toResponseModeration } from "../../wire/openai/chat/chat-moderation.ts";
import { toErrorBody } from "../../wire/openai/error.ts";
import { throwForResponses } from "../../wire/responses/error-params.ts";
import type { ItemOptions } from "../../wire/responses/output-items.ts";
import { type CompleteResponse, ResponseEvents } from "../../wire/responses/response-events.ts";
import type { ResponsesBody } from "../../wire/responses/responses-body.ts";
import {
  type ResponseChat,
  type ResponseParts,
  responsesFormat,
  toCall,
} from "../../wire/responses/responses-format.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import type { ResponseStorage } from "./response-storage.ts";
import type { NewResponse } from "./response-store.ts";

interface BackgroundOptions extends ItemOptions {
  inference: Inference;
  storage: ResponseStorage;
  caller: Caller;
  /** The request, if it counts already. */
  counted: CountedRequest | undefined;
  /** Runs a response with tools of this service; undefined: its model alone answers. */
  ask: AskChat<ResponseChat> | undefined;
  chat: ResponseChat;
  body: ResponsesBody;
  /** Records the run, whose HTTP request ends before it. */
  run: DetachedRun;
  /** What the run occupies in memory, which it releases at its end. */
  holding: Holding;
  /** Renders the response as it is stored before it runs. */
  queued: (id: string, response: CompleteResponse) => NewResponse;
}

/**
 * Resolves with the queued response once its quota is reserved, so that a request over a limit or for an unknown model
 * is refused at once. Throws a Fault.
 */
export async function startBackground(
  { inference, storage, caller, counted, ask, chat, body, queued, run, holding, ...names }: BackgroundOptions,
  requestId: string,
): Promise<{ response: CompleteResponse; stored: NewResponse }> {
  using starting = new DisposableStack();
  starting.defer(holding.release);
  const leaving: (() => void)[] = [];
  const admitted = Promise.withResolvers<void>();
  // Called once the quota is reserved; a loop of tools also registers what does not count as a request.
  const onDisconnect: OnDisconnect = run.watch((leave, settlement) => {
    leaving.push(leave);
    if (ask === undefined || settlement !== undefined) admitted.resolve();
  });
  const options = { moderation: body.moderation, onDisconnect, counted };
  const answering: Promise<ChatAnswer & ResponseParts> =
    ask === undefined
      ? runWithin(responsesFormat, chat, async (each) => inference.chat(caller, toTypedCall(toCall(each)), options))
      : ask(chat, options);
  const abort = () => {
    for (const leave of leaving) leave();
  };
  await Promise.race([admitted.promise, answering]).catch((failure: unknown) => throwForResponses(failure, body));
  let moderation: Record<string, unknown> | undefined;
  // The client gets an ID before the model answers.
  const queuedAnswer = { id: newId(""), createdAt: Date.now(), model: body.model };
  const rendering = { body, answer: queuedAnswer, ...names, store: true, moderation: () => moderation };
  const rendered = new ResponseEvents(rendering);
  async function* parts() {
    try {
      const answer = await answering;
      run.answered(answer);
      for await (const part of answer.parts ?? toAnswerParts(answer, true, true)) {
        if (part.type === "end" && answer.moderation !== undefined)
          moderation = toResponseModeration(answer.moderation);
        yield part;
      }
      run.end();
    } catch (failure) {
      run.end(failure);
      throw failure;
    } finally {
      // Its reader has stopped.
      run.end(new Fault("client-left", "The response was cancelled."));
    }
  }
  const response = rendered.queued();
  const stored = queued(rendered.id, response);
  try {
    await storage.responses.insert(stored);
  } catch (failure) {
    abort();
    throw failure;
  }
  const toFailedEvent = (failure: unknown) => rendered.failed(toErrorBody(failure, requestId));
  const running = starting.move();
  void storage.background
    .start({ queued: stored, abort, toFailedEvent }, rendered.of(parts()))
    .then(() => running.dispose());
  return { response, stored };
}
