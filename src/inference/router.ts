/** Chooses the deployment that answers: the first in order that can, then the model's fallbacks. */

import type { ChatEvent, ChatModel, ChatRequest } from "../engines/engine.ts";
import { Fault } from "../faults.ts";
import type { CatalogModel } from "./catalog.ts";
import type { Deployment } from "./deployment.ts";
import { readAhead } from "./read-ahead.ts";

export interface RoutedChat {
  /** The catalog id that answers: the one asked for, or a fallback's. */
  model: string;
  deployment: Deployment;
  /** Begins with the event that was waited for. */
  events: AsyncIterable<ChatEvent>;
}

export interface Candidate {
  /** The id to answer as: for a wildcard, the id asked for. */
  id: string;
  model: CatalogModel;
}

/**
 * Waits for the first event of the first deployment that gives one. Throws a Fault: what the request itself caused at
 * once, otherwise, when every attempt failed, the last attempt's.
 */
export async function routeChat(
  candidates: readonly Candidate[],
  request: ChatRequest,
  signal: AbortSignal,
): Promise<RoutedChat> {
  let refusal: Fault | undefined;
  for (const { id, model } of candidates) {
    for (const deployment of model.deployments) {
      try {
        return await attempt(deployment, { ...request, model: id }, signal);
      } catch (failure) {
        if (signal.aborted) throw signal.reason;
        if (!(failure instanceof Fault) || !mayTryElsewhere(failure, request)) throw failure;
        // A deployment that could have honoured the request but is not well says more than one that cannot honour it.
        if (refusal === undefined || failure !== request.notCarried) refusal = failure;
      }
    }
  }
  throw refusal ?? new Error(`The model ${request.model} has no deployment`);
}

const ELSEWHERE: ReadonlySet<Fault["kind"]> = new Set([
  "unavailable",
  "upstream-failed",
  "upstream-timeout",
  "request-rate-limited",
  "token-rate-limited",
]);

function mayTryElsewhere(fault: Fault, request: ChatRequest): boolean {
  return fault === request.notCarried || ELSEWHERE.has(fault.kind);
}

async function attempt(deployment: Deployment, request: ChatRequest, signal: AbortSignal): Promise<RoutedChat> {
  const model = asChatModel(deployment);
  if (request.notCarried !== undefined && !model.passesWire) throw request.notCarried;
  const { leave } = await deployment.enter(signal);
  const answered = untilEnd(model, request, signal, leave);
  // A local model's answer is bounded by its context window; an upstream's is pulled at the client's pace.
  const events = model.passesWire ? answered : readAhead(answered);
  const first = await events.next();
  if (first.done) throw signal.aborted ? signal.reason : new Error(`${deployment.name} ended without an answer`);
  return { model: request.model, deployment, events: prepend(first.value, events) };
}

function asChatModel(deployment: Deployment): ChatModel {
  const model = deployment.model();
  if (model.task !== "chat") throw new Error(`${deployment.name} performs ${model.task}, not chat`);
  return model;
}

async function* untilEnd(model: ChatModel, request: ChatRequest, signal: AbortSignal, leave: () => void) {
  try {
    yield* model.chat(request, signal);
  } finally {
    leave();
  }
}

async function* prepend(first: ChatEvent, rest: AsyncIterator<ChatEvent>): AsyncGenerator<ChatEvent> {
  try {
    yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
