/** Bounds of what the other side of a connection sends unasked: requests such as elicitation, and notifications. */

import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";

interface Rate {
  /** Messages at once. */
  burst: number;
  perSecond: number;
}

interface MessageLimits {
  /** Requests without an answer. Over HTTP, each answer has a connection until the server has taken it. */
  concurrentRequests: number;
  requests: Rate;
  /** Notifications between two answers. */
  notificationsInARow: number;
  notifications: Rate;
}

/** A person answers in seconds; a program that asks or reports more is broken or hostile. */
const MESSAGE_LIMITS: MessageLimits = {
  concurrentRequests: 8,
  requests: { burst: 50, perSecond: 1 },
  notificationsInARow: 100_000,
  notifications: { burst: 20_000, perSecond: 2_000 },
};

/** How much more than the limits ends a connection that several callers share. */
const SHARED_FACTOR = 10;
const REFUSED = -32000;

export interface MessageBoundsOptions {
  /** Called once; nothing is sent afterwards. */
  onExceeded(failure: Error): void;
  /**
   * Whether several callers share the connection, so that what one of them makes the server send must not end the calls
   * of the others: what exceeds the limits is left out, and only ten times as much ends the connection.
   */
  isShared?: boolean | undefined;
  limits?: MessageLimits;
  /** Milliseconds of a steady clock. */
  now?: () => number;
}

/** Call before the transport has a protocol, which passes each message to the handler that it finds. */
export function boundMessages(transport: Transport, options: MessageBoundsOptions): void {
  const { onExceeded, isShared = false, limits = MESSAGE_LIMITS, now = () => performance.now() } = options;
  const unanswered = new Set<unknown>();
  const ending = new MessageCounter(isShared ? scaled(limits, SHARED_FACTOR) : limits, unanswered, now);
  const dropping = isShared ? new MessageCounter(limits, unanswered, now) : undefined;
  let failure: Error | undefined;
  const check = (message: JSONRPCMessage): void => {
    const excess = ending.excessOf(message);
    if (excess === undefined) return;
    failure = new Error(`The server sent more ${excess}, the limit. Its connection was closed.`);
    onExceeded(failure);
  };
  transport.onmessage = (message) => {
    if (failure === undefined) check(message);
    // The transport reports what a handler throws, and the protocol does not get the message.
    if (failure !== undefined) throw failure;
    const excess = dropping?.excessOf(message);
    if (excess === undefined) return;
    const reason = `The server sent more ${excess}, the limit.`;
    if ("id" in message && "method" in message) {
      const error = { code: REFUSED, message: reason };
      void transport.send({ jsonrpc: "2.0", id: message.id, error }).catch(() => {});
    }
    throw new Error(`${reason} It was left out.`);
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, sendOptions) => {
    if (failure !== undefined) throw failure;
    const sent = send(message, sendOptions);
    if ("method" in message || !("id" in message)) return sent;
    await sent.finally(() => unanswered.delete(message.id));
  };
}

class MessageCounter {
  readonly #limits: MessageLimits;
  /** IDs of requests. */
  readonly #unanswered: Set<unknown>;
  readonly #requests: TokenBucket;
  readonly #notifications: TokenBucket;
  #inARow = 0;

  constructor(limits: MessageLimits, unanswered: Set<unknown>, now: () => number) {
    this.#limits = limits;
    this.#unanswered = unanswered;
    this.#requests = new TokenBucket(limits.requests, now);
    this.#notifications = new TokenBucket(limits.notifications, now);
  }

  /** Counts a message and returns what it exceeds; undefined: nothing. */
  excessOf(message: JSONRPCMessage): string | undefined {
    if (!("method" in message)) {
      this.#inARow = 0;
      return undefined;
    }
    return "id" in message ? this.#excessOfRequest(message.id) : this.#excessOfNotification(message);
  }

  #excessOfRequest(id: unknown): string | undefined {
    const { concurrentRequests, requests } = this.#limits;
    this.#unanswered.add(id);
    if (this.#unanswered.size > concurrentRequests) {
      return `than ${concurrentRequests} requests without waiting for their answers`;
    }
    return this.#requests.take() ? undefined : `requests than ${describe(requests)}`;
  }

  #excessOfNotification({
    method,
    params,
  }: {
    method: string;
    params?: Readonly<Record<string, unknown>> | undefined;
  }): string | undefined {
    const { notificationsInARow, notifications } = this.#limits;
    this.#inARow += 1;
    if (method === "notifications/cancelled") this.#unanswered.delete(params?.requestId);
    if (this.#inARow > notificationsInARow) return `than ${notificationsInARow} notifications without an answer`;
    return this.#notifications.take() ? undefined : `notifications than ${describe(notifications)}`;
  }
}

function scaled({ requests, notifications, ...counts }: MessageLimits, factor: number): MessageLimits {
  const faster = ({ burst, perSecond }: Rate) => ({ burst: burst * factor, perSecond: perSecond * factor });
  return {
    concurrentRequests: counts.concurrentRequests * factor,
    notificationsInARow: counts.notificationsInARow * factor,
    requests: faster(requests),
    notifications: faster(notifications),
  };
}

function describe({ burst, perSecond }: Rate): string {
  return `${burst} at once and ${perSecond} a second`;
}

class TokenBucket {
  readonly #rate: Rate;
  readonly #now: () => number;
  #tokens: number;
  #filledAt: number;

  constructor(rate: Rate, now: () => number) {
    this.#rate = rate;
    this.#now = now;
    this.#tokens = rate.burst;
    this.#filledAt = now();
  }

  /** Returns false where there is none. */
  take(): boolean {
    const { burst, perSecond } = this.#rate;
    const now = this.#now();
    this.#tokens = Math.min(burst, this.#tokens + ((now - this.#filledAt) / 1000) * perSecond);
    this.#filledAt = now;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
