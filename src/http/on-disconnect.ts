import type { FastifyReply } from "fastify";
import type { OnDisconnect } from "../inference/on-disconnect.ts";
import { Fault } from "../kernel/faults.ts";

/**
 * Registers a callback for a client that disconnects before its answer was sent completely. Uses the response's
 * `close`: Fastify's own `request.signal` aborts on Node 20 as soon as the body has been read.
 */
export function onDisconnect({ raw, request }: FastifyReply): OnDisconnect {
  return (leave, settlement, guardrails, recording) => {
    if (settlement !== undefined) request.record.settlement = settlement;
    if (recording !== undefined) request.record.recording = recording;
    if (guardrails !== undefined) {
      guardrails.requestId = request.id;
      request.record.guardrails = guardrails;
    }
    if (raw.destroyed) leave();
    else request.record.leaving.push(leave);
  };
}

/** Signal of a client that disconnects before its answer was sent completely. */
export function disconnection(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  onDisconnect(reply)(() => controller.abort(new Fault("client-left", "The client left.")));
  return controller.signal;
}
