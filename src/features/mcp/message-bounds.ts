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

export interface MessageBoundsOptions {
  /** Called once; nothing is sent afterwards. */
  onExceeded(failure: Error): void;
  limits?: MessageLimits;
  /** Milliseconds of a steady clock. */
  now?: () => number;
}

/** Call before the transport has a protocol, which passes each message to the handler that it finds. */
export function boundMessages(transport: Transport, options: MessageBoundsOptions): void {
  const { onExceeded, limits = MESSAGE_LIMITS, now = () => performance.now() } = options;
  const unanswered = new Set<unknown>();
  const requests = new TokenBucket(limits.requests, now);
  const notifications = new TokenBucket(limits.notifications, now);
  let inARow = 0;
  let failure: Error | undefined;
  const exceed = (what: string) => {
    failure = new Error(`The server sent ${what}. Its connection was closed.`);
    onExceeded(failure);
  };
  const check = (message: JSONRPCMessage): void => {
    if (!("method" in message)) {
      inARow = 0;
      return;
    }
    const excess = "id" in message ? checkRequest(message.id) : checkNotification(message);
    if (excess !== undefined) exceed(`more ${excess}, the limit`);
  };
  const checkRequest = (id: unknown): string | undefined => {
    unanswered.add(id);
    if (unanswered.size > limits.concurrentRequests) {
      return `than ${limits.concurrentRequests} requests without waiting for their answers`;
    }
    return requests.take() ? undefined : `requests than ${describe(limits.requests)}`;
  };
  const checkNotification = ({
    method,
    params,
  }: {
    method: string;
    params?: Readonly<Record<string, unknown>> | undefined;
  }) => {
    inARow += 1;
    if (method === "notifications/cancelled") unanswered.delete(params?.requestId);
    if (inARow > limits.notificationsInARow) {
      return `than ${limits.notificationsInARow} notifications without an answer`;
    }
    return notifications.take() ? undefined : `notifications than ${describe(limits.notifications)}`;
  };
  transport.onmessage = (message) => {
    if (failure === undefined) check(message);
    // The transport reports what a handler throws, and the protocol does not get the message.
    if (failure !== undefined) throw failure;
  };
  const send = transport.send.bind(transport);
  transport.send = async (message, sendOptions) => {
    if (failure !== undefined) throw failure;
    const sent = send(message, sendOptions);
    if ("method" in message || !("id" in message)) return sent;
    await sent.finally(() => unanswered.delete(message.id));
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
