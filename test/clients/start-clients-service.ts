import { readFile } from "node:fs/promises";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";

/** The model of `parlance.yaml` next to this file: scripted answers, with tools, schemas and images. */
export const TOOLS_MODEL = "scripted-tools";

/** Starts the service for all clients of this suite, with the default models and one scripted model with tools. */
export async function startClientsService(): Promise<ServiceProcess> {
  const config = await readFile(new URL("parlance.yaml", import.meta.url), "utf8");
  const server = new URL("../support/mcp/stdio-server.ts", import.meta.url).pathname;
  const mcp = `mcp_servers: [{ name: forecast, command: ["${process.execPath}", "${server}"] }]`;
  // Each client uses few of the models.
  return startServiceProcess({
    config: `local: { load: on_demand }\n${mcp}\n${config}`,
    environment: { PARLANCE_TEST_ENGINES: "1" },
  });
}
