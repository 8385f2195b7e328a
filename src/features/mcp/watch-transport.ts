/** What a connection notices of the messages that pass its transport. */

import type { Transport } from "@modelcontextprotocol/client";

/** Notifications between two answers, such as progress: a server that sends more is broken. */
const MAX_NOTIFICATIONS = 100_000;

/** Adds cancellations to `sending` while they are on their way. */
export function collectCancellations(transport: Transport, sending: Set<Promise<void>>): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const sent = send(message, options);
    if ("method" in message && message.method === "notifications/cancelled") {
      sending.add(sent);
      void sent.catch(() => {}).finally(() => sending.delete(sent));
    }
    return sent;
  };
}

/** Calls `onExceeded` once when the other side sends too many notifications, and passes on no further messages. */
export function boundNotifications(
  transport: Transport,
  onExceeded: (failure: Error) => void,
  max = MAX_NOTIFICATIONS,
): void {
  const deliver = transport.onmessage;
  let count = 0;
  let hasExceeded = false;
  transport.onmessage = (message, ...rest) => {
    if (hasExceeded) return;
    count = "method" in message && !("id" in message) ? count + 1 : 0;
    if (count <= max) return deliver?.(message, ...rest);
    hasExceeded = true;
    onExceeded(new Error(`It sent ${max} notifications without an answer, the limit.`));
  };
}

/**
 * Delays answers by a microtask. The library handles notifications that much later than answers, so that it would drop
 * the progress that a program writes together with its result.
 */
export function deliverInOrder(transport: Transport): void {
  const deliver = transport.onmessage;
  if (deliver === undefined) return;
  transport.onmessage = (message, extra) => {
    if ("method" in message) deliver(message, extra);
    else queueMicrotask(() => deliver(message, extra));
  };
}
