/** Services that store responses, on each database, with a scripted model. */

import OpenAI from "openai";
import { afterAll, beforeAll } from "vitest";
import type { DatabaseOptions } from "../../../src/storage/database.ts";
import { type DATABASE_KINDS, useDatabases } from "../databases/databases.ts";
import { type Service, startService } from "./service.ts";

export const RESPONSE_CONFIG = `
builtin_models: false
models:
  - id: caller
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, vision: true }
        replies:
          - match: weather
            match_tool: sunny
            text: "It is sunny."
          - match: weather
            tool_calls: [{ name: weather, arguments: { city: Paris } }]
          - match: breaks
            text: "one two three"
            fail_after_tokens: 2
            fail_with: { kind: upstream-failed, message: "Down." }
          - match: slow
            text: "${"word ".repeat(200)}"
            delay_ms_per_token: 40
          - match: brisk
            text: "${"word ".repeat(20)}"
            delay_ms_per_token: 40
        echo: true
`;
export const model = "caller";
export const notFound = { status: 404 };

interface StorageService {
  service: Service;
  client: OpenAI;
  admin: OpenAI;
  database: DatabaseOptions;
  /** Creates a project with a client of its key. */
  newProject(name: string): Promise<{ project: { id: string }; client: OpenAI }>;
}

/** Returns a function that starts one service for the tests of a `describe`. Call it at the top of the file. */
export function useResponseStorage(): (kind: (typeof DATABASE_KINDS)[number]) => () => StorageService {
  const databases = useDatabases();
  return (kind) => {
    let started: StorageService | undefined;
    beforeAll(async () => {
      const database = await databases.create(kind);
      const environment: Record<string, string> =
        database.url === undefined
          ? {}
          : { DATABASE_URL: database.url.reveal(), PARLANCE_ENCRYPTION_KEY: "k".repeat(40) };
      const service = await startService({ config: RESPONSE_CONFIG, environment });
      const client = service.client({ maxRetries: 0 });
      const admin = new OpenAI({ baseURL: service.baseUrl, apiKey: "unused", adminAPIKey: service.adminKey });
      const newProject = async (name: string) => {
        const project = await admin.admin.organization.projects.create({ name });
        const account = await admin.admin.organization.projects.serviceAccounts.create(project.id, { name });
        const apiKey = account.api_key?.value ?? "";
        return { project, client: service.client({ apiKey, maxRetries: 0 }) };
      };
      started = { service, client, admin, database, newProject };
    });
    afterAll(() => started?.service.stop());
    return () => {
      if (started === undefined) throw new Error("the service runs in tests only");
      return started;
    };
  };
}
