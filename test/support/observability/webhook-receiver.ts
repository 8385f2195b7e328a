/** A receiver of webhooks that verifies signatures with the official library. */

import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook } from "standardwebhooks";

export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, "k").toString("base64")}`;

interface ReceivedWebhook {
  id: string;
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
  /** As it arrived, for clients that verify it themselves. */
  sent: { body: string; headers: Record<string, string> };
}

export interface WebhookReceiver extends AsyncDisposable {
  url: string;
  /** What was accepted, in the order of arrival. */
  received: ReceivedWebhook[];
  /** IDs of what was refused. */
  refused: string[];
  /** Status of the next answers; 200 after them. */
  answerWith(...statuses: number[]): void;
  ofType(type: string): ReceivedWebhook[];
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const refused: string[] = [];
  let statuses: number[] = [];
  const verifier = new Webhook(WEBHOOK_SECRET);
  const accept = (body: string, headers: IncomingHttpHeaders): number => {
    const status = statuses.shift() ?? 200;
    const id = String(headers["webhook-id"]);
    if (status !== 200) {
      refused.push(id);
      return status;
    }
    try {
      received.push({
        ...(verifier.verify(body, headers as Record<string, string>) as Omit<ReceivedWebhook, "id" | "sent">),
        id,
        sent: { body, headers: headers as Record<string, string> },
      });
      return 200;
    } catch (error) {
      refused.push(String(error));
      return 401;
    }
  };
  const server = createServer(async (request, response) => {
    response.writeHead(accept(await text(request), request.headers)).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
    received,
    refused,
    answerWith: (...next) => {
      statuses = next;
    },
    ofType: (type) => received.filter((each) => each.type === type),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
