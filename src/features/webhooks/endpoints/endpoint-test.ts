import { Fault } from "../../../kernel/faults.ts";
import { postWebhook } from "../post-webhook.ts";
import { toPayload } from "../webhook-outbox.ts";
import type { WebhookEndpointRow } from "./endpoint-rows.ts";
import type { EndpointSecrets } from "./endpoint-secrets.ts";
import { checkEventTypes, sampleEvent } from "./project-events.ts";
import { signingSecrets } from "./project-webhook-sender.ts";
import type { ReceiverGuard } from "./receiver-guard.ts";

/** Sends sample events, one at a time for a project, so that tests do not flood a receiver. */
export class EndpointTest {
  readonly #secrets: EndpointSecrets;
  readonly #guard: ReceiverGuard;
  readonly #testing = new Set<string>();

  constructor({ secrets, guard }: { secrets: EndpointSecrets; guard: ReceiverGuard }) {
    this.#secrets = secrets;
    this.#guard = guard;
  }

  /** Returns the status of the answer. Throws a Fault if no answer arrives. */
  async send(row: WebhookEndpointRow, eventType: string, signal: AbortSignal): Promise<number> {
    const { projectId, url } = row;
    const [type] = checkEventTypes([eventType], "event_type");
    if (type === undefined) throw new Error("a type was checked");
    if (this.#testing.has(projectId)) {
      const message = "Another test of this project waits for its answer. Retry in 1 s.";
      throw new Fault("request-rate-limited", message, { retryAfterSeconds: 1 });
    }
    this.#testing.add(projectId);
    try {
      const { eventId, payload } = toPayload(sampleEvent(type, projectId), Date.now());
      const dispatcher = this.#guard.dispatcherFor(url);
      const secrets = signingSecrets(this.#secrets, row);
      return (await postWebhook({ url, dispatcher, secrets, eventId, payload }, signal)).status;
    } catch (cause) {
      // Why there was no answer says more of networks than the caller may know.
      const message = "The endpoint did not answer within 15 s, or does not accept connections.";
      throw new Fault("invalid-request", message, { code: "webhook_test_failed", cause });
    } finally {
      this.#testing.delete(projectId);
    }
  }
}
