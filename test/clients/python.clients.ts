import { readdirSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_CHAT_MODEL } from "../support/default-model.ts";
import type { Service } from "../support/service.ts";
import { clientsTable } from "./clients-table.ts";
import { type ClientCheck, installPythonClients, runPythonClient } from "./python-clients.ts";
import { startClientsService } from "./start-clients-service.ts";

/** aider pins versions of its dependencies that conflict with the other clients. */
const REQUIREMENTS: Readonly<Record<string, string>> = { "aider_client.py": "requirements-aider.txt" };
const SCRIPTS = readdirSync(resolve(import.meta.dirname, "python")).filter((name) => name.endsWith("_client.py"));
const TABLE = resolve(import.meta.dirname, "../../docs/reference/clients.md");

let service: Service;
const checks: ClientCheck[] = [];

beforeAll(async () => {
  service = await startClientsService();
});
afterAll(async () => {
  await service?.stop();
  if (process.env.UPDATE_CLIENTS_TABLE === "1") await writeFile(TABLE, clientsTable(checks));
});

describe("Python clients", () => {
  test.each(SCRIPTS)("%s", async (script) => {
    const interpreter = await installPythonClients(REQUIREMENTS[script] ?? "requirements.txt");
    const found = await runPythonClient(interpreter, script, service, DEFAULT_CHAT_MODEL);
    checks.push(...found);
    expect(found.filter(({ error }) => error !== null)).toEqual([]);
  });
});
