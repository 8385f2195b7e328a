/** What an MCP server tells without being asked. */

import type { Client } from "@modelcontextprotocol/client";
import type { OfferKind } from "./mcp-offer.ts";
import type { Peer } from "./peer.ts";

export interface NotificationListeners {
  /** Client of all requests; undefined: requests of several share the connection, or nobody can be asked. */
  peer?: Peer | undefined;
  /** Called when the server says that a list has changed. */
  onListChanged?: (kind: OfferKind) => void;
  /** Called when the server says that a resource has changed. */
  onResourceUpdated?: (uri: string) => void;
}

export function observe(client: Client, { peer, onListChanged, onResourceUpdated }: NotificationListeners): void {
  const { onLog } = peer ?? {};
  if (onLog !== undefined) client.setNotificationHandler("notifications/message", ({ params }) => onLog(params));
  if (onListChanged !== undefined) {
    client.setNotificationHandler("notifications/tools/list_changed", () => onListChanged("tools"));
    client.setNotificationHandler("notifications/prompts/list_changed", () => onListChanged("prompts"));
    client.setNotificationHandler("notifications/resources/list_changed", () => {
      onListChanged("resources");
      onListChanged("templates");
    });
  }
  if (onResourceUpdated !== undefined) {
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => onResourceUpdated(params.uri));
  }
}
