import type { FastifyReply } from "fastify";
import { Fault } from "../kernel/faults.ts";

const RETRY_AFTER_SECONDS = 5;

/** Counts the streams of an operation that are open at this replica, by project, or by organization for admin keys. */
export class OpenStreams {
  readonly #max: number;
  readonly #advice: string;
  readonly #open = new Map<string, number>();

  /** `advice`: what a client does instead of opening one too many. */
  constructor(max: number, advice: string) {
    this.#max = max;
    this.#advice = advice;
  }

  /** Counts a stream until its connection closes. Throws a Fault for one too many. */
  count({ raw, request: { caller } }: FastifyReply): void {
    const scope = caller.projectId ?? caller.organizationId;
    const open = this.#open.get(scope) ?? 0;
    if (open >= this.#max) {
      const message = `${this.#max} such streams are open already. Close one of them, or ${this.#advice}.`;
      const details = { code: "rate_limit_exceeded", retryAfterSeconds: RETRY_AFTER_SECONDS };
      throw new Fault("request-rate-limited", message, details);
    }
    // Its client has left, and nothing would take it back.
    if (raw.destroyed) return;
    this.#open.set(scope, open + 1);
    raw.once("close", () => {
      const remaining = (this.#open.get(scope) ?? 1) - 1;
      if (remaining > 0) this.#open.set(scope, remaining);
      else this.#open.delete(scope);
    });
  }
}
