import { Badge } from "@mantine/core";
import type { McpServer } from "./mcp-api.ts";

const STATES = {
  up: { color: "teal", label: "Up" },
  failed: { color: "red", label: "Failed" },
  starting: { color: "blue", label: "Starting" },
} as const;

/** Whether a server answers, in words as well as in color. */
export function ServerState({ status }: Pick<McpServer, "status">) {
  const { color, label } = STATES[status];
  return (
    <Badge variant="dot" color={color} tt="none" fw={500} miw="max-content">
      {label}
    </Badge>
  );
}

/** Transport, protocol and software of a server as one line. */
export function factsOf(server: McpServer): string {
  const { transport, protocol_version: version, protocol_era: era, software } = server;
  return [
    transport === "http" ? "Streamable HTTP" : "Program (stdio)",
    version === null ? undefined : `protocol ${version}, ${era === "sessions" ? "with sessions" : "stateless"}`,
    software === null ? undefined : `${software.name} ${software.version}`.trim(),
  ]
    .filter((fact) => fact !== undefined)
    .join(" · ");
}
