/** Endpoints of the configuration, as projects of the default organization see them. */

import { createHash } from "node:crypto";
import { Fault } from "../../../kernel/faults.ts";
import type { WebhookEndpoint } from "../settings.ts";
import type { ShownEndpoint } from "./project-endpoints.ts";
import { isProjectEventType } from "./project-events.ts";

const ID_CHARACTERS = 32;

export function configuredEndpoints(endpoints: readonly WebhookEndpoint[]): ShownEndpoint[] {
  return endpoints
    .filter(({ events }) => events.some(isProjectEventType))
    .map(({ url, events }) => ({
      id: `whe_config_${createHash("sha256").update(url).digest("hex").slice(0, ID_CHARACTERS)}`,
      name: "webhooks of the configuration",
      // Paths of receivers such as chat services are secrets.
      url: new URL(url).origin,
      events: events.filter(isProjectEventType),
      secretHint: null,
      createdAt: 0,
      updatedAt: 0,
      isConfigured: true,
    }));
}

export function lockedEndpoint(): Fault {
  const message =
    "This endpoint belongs to the configuration of the installation. An operator changes it in `webhooks` of parlance.yaml, or with POST /v1/organization/configuration/settings/webhooks.";
  return new Fault("conflict", message, { code: "webhook_endpoint_locked" });
}
