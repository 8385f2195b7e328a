/** Calls between the owner and a worker, in batches over one ordered connection. */

import { decodeFailure, type EncodedFailure, encodeFailure } from "../engines/host/messages.ts";
import { unavailable } from "../kernel/faults.ts";

/** Arguments and results must survive JSON. */
// biome-ignore lint/suspicious/noExplicitAny: a table of methods with any arguments.
export type Methods = Record<string, (...given: any[]) => unknown>;

/** Connection of two processes, which delivers messages in order. */
export interface Port {
  send(messages: readonly Message[]): void;
  onMessages(receive: (messages: readonly Message[]) => void): void;
}

export type Message =
  | ["notify", name: string, given: unknown[]]
  | ["call", id: number, name: string, given: unknown[]]
  | ["result", id: number, result: unknown]
  | ["failure", id: number, failure: EncodedFailure];

/** `Remote`: the methods of the other process. */
export class Channel<Remote extends Methods> {
  readonly #port: Port;
  readonly #local: Methods;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #calls = 0;
  #outgoing: Message[] = [];
  #isClosed = false;

  constructor(port: Port, local: Methods) {
    this.#port = port;
    this.#local = local;
    port.onMessages((messages) => {
      for (const message of messages) this.#receive(message);
    });
  }

  /** Resolves with the method's result. Throws what it throws, or a Fault when the other process has ended. */
  async call<Name extends keyof Remote & string>(
    name: Name,
    ...given: Parameters<Remote[Name]>
  ): Promise<Awaited<ReturnType<Remote[Name]>>> {
    if (this.#isClosed) throw disconnected();
    this.#calls += 1;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(this.#calls, answer);
    this.#send(["call", this.#calls, name, given]);
    return (await answer.promise) as Awaited<ReturnType<Remote[Name]>>;
  }

  /** Calls a method without waiting for it. */
  notify<Name extends keyof Remote & string>(name: Name, ...given: Parameters<Remote[Name]>): void {
    this.#send(["notify", name, given]);
  }

  /** Fails pending calls: the other process has ended. */
  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#pending.values()) reject(disconnected());
    this.#pending.clear();
  }

  /** Each message of its own would cost a system call and a wakeup of the other process. */
  #send(message: Message): void {
    this.#outgoing.push(message);
    if (this.#outgoing.length === 1) setImmediate(() => this.flush());
  }

  /** Sends what waits for the end of this turn of the event loop. */
  flush(): void {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    if (outgoing.length > 0 && !this.#isClosed) this.#port.send(outgoing);
  }

  #receive(message: Message): void {
    switch (message[0]) {
      case "notify":
        void this.#local[message[1]]?.(...message[2]);
        break;
      case "call":
        void this.#answer(message[1], message[2], message[3]);
        break;
      case "result":
        this.#settle(message[1])?.resolve(message[2]);
        break;
      case "failure":
        this.#settle(message[1])?.reject(decodeFailure(message[2]));
        break;
    }
  }

  async #answer(id: number, name: string, given: unknown[]): Promise<void> {
    try {
      this.#send(["result", id, await this.#local[name]?.(...given)]);
    } catch (failure) {
      this.#send(["failure", id, encodeFailure(failure)]);
    }
  }

  #settle(id: number): PromiseWithResolvers<unknown> | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    return pending;
  }
}

function disconnected(): Error {
  return unavailable("The service is restarting. Try again in a moment.", "server_is_overloaded", 1);
}
