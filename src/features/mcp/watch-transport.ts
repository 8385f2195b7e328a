/** What a connection notices of the messages that pass its transport. */

import type { Transport } from "@modelcontextprotocol/client";

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

/**
 * Delays answers by a microtask. The library handles notifications that much later than answers, so that it would drop
 * the progress that a program writes together with its result.
 */
export function deliverInOrder(transport: Transport): void {
  const deliver = transport.onmessage;
  if (deliver === undefined) return;
  transport.onmessage = (message, extra) => {
    if ("method" in message) return deliver(message, extra);
    queueMicrotask(() => {
      // The transport catches what a handler throws, but not in a later turn: there, it would end the process.
      try {
        deliver(message, extra);
      } catch (failure) {
        transport.onerror?.(failure as Error);
      }
    });
  };
}

/**
 * Redacts the strings of each message that arrives. Call it before the client connects: the library calls a handler that
 * is there already first, with the message that it reads afterwards.
 */
export function redactMessages(transport: Transport, redact: (text: string) => string): void {
  const deliver = transport.onmessage;
  transport.onmessage = (message, extra) => {
    redactStrings(message as object as Record<string, unknown>, redact);
    deliver?.(message, extra);
  };
}

/** Without recursion: a server nests as deep as it likes. */
function redactStrings(message: Record<string, unknown>, redact: (text: string) => string): void {
  const containers = [message];
  for (let container = containers.pop(); container !== undefined; container = containers.pop()) {
    for (const [key, value] of Object.entries(container)) {
      if (typeof value === "string") container[key] = redact(value);
      else if (typeof value === "object" && value !== null) containers.push(value as Record<string, unknown>);
    }
  }
}
