/** Bounds large bodies, and what requests read elsewhere, in memory: they occupy several times their size. */

import type { ServerResponse } from "node:http";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Fault, unavailable } from "../kernel/faults.ts";
import { defaultMemoryBudget } from "../kernel/process/available-memory.ts";

/** Smaller bodies are not counted: the connections that could send them bound their number. */
const COUNTED_BYTES = 64 * 1024;
const RETRY_AFTER_SECONDS = 5;
/** Share of the memory budget of local models that bodies may occupy, and how many of the largest always fit. */
const BUDGET_SHARE = 1 / 16;
const MIN_BODIES = 8;

/** Bytes of large bodies that each of the service's `processes` may hold at once. */
export function bodyMemoryBytes(maxBodyBytes: number, processes = 1): number {
  return Math.max(MIN_BODIES * maxBodyBytes, (defaultMemoryBudget() * BUDGET_SHARE) / processes);
}

declare module "fastify" {
  interface FastifyInstance {
    /** Counts the bodies of this scope. */
    bodyMemory?: BodyMemory;
  }
}

/** Bytes of one thing in memory, such as a body that arrives. */
export interface Holding {
  /** Counted ones. */
  readonly bytes: number;
  /** Counts at least `bytes` in all. Throws a Fault when too many are in memory. */
  hold(bytes: number): void;
  /** Counts nothing of it any more, now and later. */
  release(): void;
}

export class BodyMemory {
  readonly #maxBytes: number;
  readonly #bytesOf = new Map<string, number>();
  readonly #requests = new WeakMap<FastifyRequest, Holding>();
  /** Answers of the requests whose bodies have a size that only their arrival shows. */
  readonly #responses = new WeakMap<FastifyRequest, ServerResponse>();
  #held = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get heldBytes(): number {
    return this.#held;
  }

  /** Has `grow` count the body of the request. */
  expect(request: FastifyRequest, response: ServerResponse): void {
    this.#responses.set(request, response);
  }

  /** Counts the bytes of a body that have arrived. Throws a Fault when too many are in memory. */
  grow(request: FastifyRequest, received: number): void {
    if (received < COUNTED_BYTES) return;
    const response = this.#responses.get(request);
    if (response !== undefined) this.hold(request, received, response);
  }

  /** Opens what occupies memory of a project, with nothing in it yet. */
  open(project: string): Holding {
    let held = 0;
    let isOpen = true;
    return {
      get bytes() {
        return held;
      },
      hold: (bytes) => {
        if (!isOpen || bytes < COUNTED_BYTES || bytes <= held) return;
        this.#requireRoom(project, bytes - held, held);
        this.#add(project, bytes - held);
        held = bytes;
      },
      release: () => {
        if (isOpen) this.#add(project, -held);
        isOpen = false;
      },
    };
  }

  /** Counts bytes of a project until they are released by the function that it returns. Throws a Fault. */
  reserve(project: string, bytes: number): () => void {
    const { hold, release } = this.open(project);
    hold(bytes);
    return release;
  }

  /** Counts a body of at least `bytes` until its answer is sent. Throws a Fault when too many are in memory. */
  hold(request: FastifyRequest, bytes: number, response: ServerResponse): void {
    // The client has left, for example while its key was looked up: nothing would release it.
    if (response.destroyed || bytes < COUNTED_BYTES) return;
    let holding = this.#requests.get(request);
    if (holding === undefined) {
      holding = this.open(request.caller?.projectId ?? request.caller?.organizationId ?? "");
      this.#requests.set(request, holding);
      response.once("close", holding.release);
    }
    holding.hold(bytes);
  }

  /** Counts what a request reads elsewhere, in addition to what it holds, until its answer is sent. Throws a Fault. */
  holdMore(request: FastifyRequest, bytes: number, response: ServerResponse): void {
    this.hold(request, this.heldBy(request) + bytes, response);
  }

  /** Returns the bytes that a request holds. */
  heldBy(request: FastifyRequest): number {
    return this.#requests.get(request)?.bytes ?? 0;
  }

  /**
   * Returns what a request holds, for a run that its answer does not end: it counts until it is released. Throws a Fault
   * when the client has left, because what was read since then is not counted.
   */
  detach(request: FastifyRequest, response: ServerResponse): Holding {
    if (response.destroyed) throw new Fault("client-left", "The client left before the response was created.");
    const holding = this.#requests.get(request) ?? this.open("");
    response.off("close", holding.release);
    return holding;
  }

  /** `own`: bytes of the same body; one of any size fits where there is no other. */
  #requireRoom(project: string, added: number, own = 0): void {
    const ofProject = this.#bytesOf.get(project) ?? 0;
    const most = this.#maxBytes / 2;
    // No project holds more than half, so that there is room for the others.
    if (ofProject > own && ofProject + added > most) throw tooMuchOfProject(ofProject, most);
    if (this.#held > own && this.#held + added > this.#maxBytes) throw tooMuch(this.#held, this.#maxBytes);
  }

  #add(project: string, bytes: number): void {
    this.#held += bytes;
    const remainingBytes = (this.#bytesOf.get(project) ?? 0) + bytes;
    if (remainingBytes > 0) this.#bytesOf.set(project, remainingBytes);
    else this.#bytesOf.delete(project);
  }
}

/** Counts bodies of a scope, by their Content-Length before they are read or as they arrive. Register it after authentication. */
export function boundBodyMemory(scope: FastifyInstance, memory: BodyMemory): void {
  scope.decorate("bodyMemory", memory);
  scope.addHook("onRequest", (request, reply, done) => {
    const { headers } = request;
    const { "content-length": announced, "content-encoding": encoding, "transfer-encoding": transfer } = headers;
    // Uploads are written to the disk, unless the scope reads bodies of any type as JSON.
    const isUpload = headers["content-type"]?.startsWith("multipart/");
    if (isUpload || encoding !== undefined || transfer !== undefined) memory.expect(request, reply.raw);
    else memory.hold(request, Number(announced ?? 0), reply.raw);
    done();
  });
}

/** Throws for a request of a scope that authenticates nobody. */
export function bodyMemoryOf({ server: { bodyMemory } }: FastifyRequest): BodyMemory {
  if (bodyMemory === undefined) throw new Error("the scope of the request counts no bodies");
  return bodyMemory;
}

/** Returns what counts bytes that a request reads elsewhere until its answer is sent. It throws a Fault. */
export function holderOf({ request, raw }: FastifyReply): (bytes: number) => void {
  return (bytes) => bodyMemoryOf(request).holdMore(request, bytes, raw);
}

function tooMuch(held: number, max: number): Fault {
  const message = `Running requests occupy ${held} bytes with what they contain and name; the limit is ${max}. Retry in ${RETRY_AFTER_SECONDS} s.`;
  return unavailable(message, "server_is_overloaded", RETRY_AFTER_SECONDS);
}

function tooMuchOfProject(held: number, max: number): Fault {
  const message = `Running requests of this project occupy ${held} bytes with what they contain and name; the limit is ${max}. Retry when one has ended, or send less in one.`;
  const details = { code: "rate_limit_exceeded", retryAfterSeconds: RETRY_AFTER_SECONDS };
  return new Fault("request-rate-limited", message, details);
}
