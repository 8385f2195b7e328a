import { Badge } from "@mantine/core";
import { msg, t } from "../../i18n/translate.ts";
import type { McpServer } from "./mcp-api.ts";

const STATES = {
  up: { color: "teal", label: msg("Up") },
  failed: { color: "red", label: msg("Failed") },
  starting: { color: "blue", label: msg("Starting") },
  needs_account: { color: "yellow", label: msg("Needs your account") },
} as const;

const TRANSPORTS = {
  http: msg("Streamable HTTP"),
  stdio: msg("Program (stdio)"),
  openapi: msg("API with an OpenAPI document"),
} as const;

/** Whether a server answers, in words as well as in color. */
export function ServerState({ status }: Pick<McpServer, "status">) {
  const { color, label } = STATES[status];
  return (
    <Badge variant="dot" color={color} tt="none" fw={500} miw="max-content">
      {t(label)}
    </Badge>
  );
}

/** Transport, protocol and software of a server as one line. */
export function factsOf(server: McpServer): string {
  const { transport, protocol_version: version, protocol_era: era, software } = server;
  return [
    t(TRANSPORTS[transport]),
    version !== null &&
      (era === "sessions"
        ? t("protocol {{version}}, with sessions", { version })
        : t("protocol {{version}}, stateless", { version })),
    software !== null && `${software.name} ${software.version}`.trim(),
  ]
    .filter((fact) => fact !== false)
    .join(" · ");
}
