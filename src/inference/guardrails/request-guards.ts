/** Finds the guardrails of requests, and gives them the models that they ask. */

import type { Catalog } from "../../catalog/catalog.ts";
import { type Caller, projectOf } from "../../contracts/caller.ts";
import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import { DEFAULT_CHAT_REQUEST } from "../../contracts/default-chat-request.ts";
import type { Guardrail } from "../../contracts/guardrail.ts";
import type { Task } from "../../contracts/task.ts";
import { chatAdapter } from "../adapters/chat-adapter.ts";
import type { CallerModels } from "../caller-models.ts";
import type { RequiredModeration } from "../moderation/moderation-policy.ts";
import type { OnDisconnect } from "../on-disconnect.ts";
import type { RecordingsOptions } from "../recording/recordings.ts";
import type { Runs } from "../runs.ts";
import type { GuardrailServices } from "./guardrail-services.ts";
import { type GuardedRequest, Guards, type GuardsOptions } from "./guards.ts";

export interface GuardrailOptions {
  catalog: Catalog;
  /** Moderation that the caller's project requires for all its chats. */
  moderationOf: (caller: Caller) => RequiredModeration | undefined;
  /** Guardrails of all requests. */
  guardrails: readonly Guardrail[];
  /** Guardrails that the caller's project requires, except for its moderation. */
  guardrailsOf: (caller: Caller) => readonly Guardrail[];
  guardrailServices: GuardrailServices;
  /** Called at the end of each request with guardrails. */
  onGuarded?: ((request: GuardedRequest) => void) | undefined;
}

/** Tasks that the moderation policy of a project applies to. */
const MODERATED_TASKS: ReadonlySet<Task> = new Set(["chat", "image"]);
const NO_GUARDRAILS: readonly Guardrail[] = [];
/** Tokens for a model that names the rules that a text violates; a reasoning model thinks before. */
const MAX_JUDGMENT_TOKENS = 1024;

export class RequestGuards {
  readonly #models: CallerModels;
  readonly #runs: Runs;
  readonly #options: GuardrailOptions & Pick<RecordingsOptions, "mayRecord">;

  constructor(models: CallerModels, runs: Runs, options: GuardrailOptions & Pick<RecordingsOptions, "mayRecord">) {
    this.#models = models;
    this.#runs = runs;
    this.#options = options;
  }

  /** Whether guardrails apply to the requests of a caller for a model, which workers leave to their owner. */
  applyTo(caller: Caller, id: string): boolean {
    return this.policyOf(caller, id).length > 0 || this.#options.moderationOf(caller) !== undefined;
  }

  /** Whether guardrails read every text of a caller's requests for a model, so that no body is forwarded. */
  readTextsOnly(caller: Caller, id: string): boolean {
    return this.policyOf(caller, id).some(({ type }) => type !== "moderation");
  }

  /**
   * Returns the guardrails in order: those of all requests, of the models that may answer, and of the project. Without a
   * model, those of its models are left out.
   */
  policyOf(caller: Caller, id: string | undefined): readonly Guardrail[] {
    const { catalog, guardrails, guardrailsOf } = this.#options;
    const ofProject = guardrailsOf(caller);
    const model = id === undefined ? undefined : catalog.find(id)?.model;
    const mirror = model && this.#models.mirror(caller, model)?.model;
    const candidates =
      model === undefined ? [] : [model, ...this.#models.fallbacks(caller, model).map((each) => each.model)];
    if (mirror !== undefined) candidates.push(mirror);
    const ofModels = candidates.flatMap((each) => each.guardrails ?? []);
    if (guardrails.length + ofProject.length + ofModels.length === 0) return NO_GUARDRAILS;
    // Fallbacks often have the guardrails of the model that they stand for.
    const byContent = new Map([...guardrails, ...ofModels, ...ofProject].map((each) => [JSON.stringify(each), each]));
    return [...byContent.values()];
  }

  /** Undefined: nothing checks the request. Throws a Fault for a model that the caller may not use. */
  of(caller: Caller, id: string, task: Task, param: string, onDisconnect: OnDisconnect): Guards | undefined {
    const policy = this.policyOf(caller, id);
    if (policy.length === 0 && (!MODERATED_TASKS.has(task) || this.#options.moderationOf(caller) === undefined))
      return undefined;
    this.#models.findForTask(caller, id, task);
    return this.#guards({ policy, caller, model: id, param, onDisconnect });
  }

  /** Whether guardrails check what tools of a caller get and write. */
  applyToTools(caller: Caller): boolean {
    return this.policyOf(caller, undefined).some(({ type }) => type !== "moderation");
  }

  /** Returns the guardrails of a call of a tool, which has no model; undefined: nothing checks it. */
  ofTool(caller: Caller, name: string, onDisconnect: OnDisconnect): Guards | undefined {
    if (!this.applyToTools(caller)) return undefined;
    const policy = this.policyOf(caller, undefined);
    return this.#guards({ policy, caller, model: name, param: "arguments", onDisconnect });
  }

  #guards(request: Pick<GuardsOptions, "policy" | "caller" | "model" | "param" | "onDisconnect">): Guards {
    const { guardrailServices: services, onGuarded: onEnded } = this.#options;
    const complete = (model: string, system: string, text: string) =>
      this.#complete(request.caller, model, { system, text }, request.onDisconnect);
    return new Guards({ ...request, services, complete, onEnded });
  }

  /** Asks a chat model for a short answer, as part of a request: without guardrails, and not counted as a request. */
  async #complete(
    caller: Caller,
    model: string,
    { system, text }: { system: string; text: string },
    onDisconnect: OnDisconnect,
  ) {
    const [masked = ""] = await this.mask(caller, model, [text], onDisconnect);
    const messages: ChatMessage[] = [
      { role: "system", content: system },
      { role: "user", content: masked },
    ];
    const request = { ...DEFAULT_CHAT_REQUEST, model, messages, temperature: 0, maxTokens: MAX_JUDGMENT_TOKENS };
    const call: ChatCall = { request, moderationInput: () => ({ texts: [], unmoderatable: undefined }) };
    const adapter = chatAdapter(call, projectOf(caller), undefined, this.#options.mayRecord?.(caller) !== false);
    const { events } = await this.#runs.run(caller, model, adapter, onDisconnect, { isWithinRequest: true });
    let answer = "";
    for await (const event of events) if (event.type === "text") answer += event.text;
    return answer;
  }

  /**
   * Returns texts that a guardrail asks another model about, without personal data and secrets if these must not reach
   * that model.
   */
  async mask(caller: Caller, id: string, texts: readonly string[], onDisconnect: OnDisconnect) {
    const policy = this.policyOf(caller, id).filter(({ type }) => type === "pii" || type === "secrets");
    if (policy.length === 0) return texts;
    const { guardrailServices: services } = this.#options;
    const complete = () => Promise.reject(new Error("personal data is not judged"));
    const guards = { policy, services, caller, model: id, param: "messages", complete, onEnded: undefined };
    return new Guards({ ...guards, onDisconnect: (leave) => onDisconnect(leave) }).guardAll(texts);
  }
}
