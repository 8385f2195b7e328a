/** Clients that send requests to services that come and go. */

import { setTimeout as pause } from "node:timers/promises";
import type { Service } from "../service/service.ts";

export interface LoadKey {
  projectId: string;
  value: string;
}

export interface LoadOutcome {
  /** Answered requests and their completion tokens, by project. */
  answered: Map<string, { requests: number; tokens: number }>;
  failures: string[];
  slowestMs: number;
}

const POLL_MS = 20;

export class SteadyLoad {
  readonly outcome: LoadOutcome = { answered: new Map(), failures: [], slowestMs: 0 };
  readonly #clients: Promise<void>[];
  #services: readonly Service[] = [];
  #open = new Map<Service, number>();
  #isOver = false;

  /** `clients` is the number of concurrent requests, each with one of the keys in turn. */
  constructor(keys: readonly LoadKey[], clients: number) {
    this.#clients = Array.from({ length: clients }, (_, index) => this.#run(keys, index));
  }

  /** Sends further requests to these services only. Resolves once the others have answered theirs. */
  async use(...services: readonly Service[]): Promise<void> {
    this.#services = services;
    const isOpen = () => [...this.#open].some(([service, count]) => count > 0 && !services.includes(service));
    while (isOpen()) await pause(POLL_MS);
  }

  async end(): Promise<LoadOutcome> {
    this.#isOver = true;
    await Promise.all(this.#clients);
    return this.outcome;
  }

  async #run(keys: readonly LoadKey[], index: number): Promise<void> {
    for (let number = index; !this.#isOver; number += 1) {
      const service = this.#services[number % Math.max(1, this.#services.length)];
      const key = keys[number % keys.length];
      if (service === undefined || key === undefined) {
        await pause(POLL_MS);
        continue;
      }
      this.#open.set(service, (this.#open.get(service) ?? 0) + 1);
      await this.#send(service, key, number % 2 === 0);
      this.#open.set(service, (this.#open.get(service) ?? 0) - 1);
    }
  }

  async #send({ origin }: Service, { projectId, value }: LoadKey, isStreamed: boolean): Promise<void> {
    const sentAt = performance.now();
    const body = {
      model: "parrot",
      messages: [{ role: "user", content: "Say some words, please." }],
      ...(isStreamed && { stream: true, stream_options: { include_usage: true } }),
    };
    try {
      const answer = await fetch(`${origin}/v1/chat/completions`, {
        method: "POST",
        headers: { authorization: `Bearer ${value}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      const text = await answer.text();
      const [, tokens] = /"completion_tokens":(\d+)/.exec(text) ?? [];
      const isWhole = tokens !== undefined && (!isStreamed || text.trimEnd().endsWith("[DONE]"));
      if (answer.status !== 200 || !isWhole) throw new Error(`${answer.status} ${text.slice(0, 300)}`);
      const sum = this.outcome.answered.get(projectId) ?? { requests: 0, tokens: 0 };
      this.outcome.answered.set(projectId, { requests: sum.requests + 1, tokens: sum.tokens + Number(tokens) });
      this.outcome.slowestMs = Math.max(this.outcome.slowestMs, performance.now() - sentAt);
    } catch (failure) {
      const cause = failure instanceof Error && failure.cause instanceof Error ? `: ${failure.cause.message}` : "";
      this.outcome.failures.push(`${failure}${cause}`);
    }
  }
}
