import { expect, test } from "vitest";
import { useDatabases } from "../../../test/support/databases/databases.ts";
import { openDatabase } from "../../storage/database.ts";
import { ClientMessages } from "./client-messages.ts";
import { McpGateway } from "./gateway.ts";
import { GuardedLists } from "./guarded-lists.ts";
import { McpCallLog } from "./mcp-call-log.ts";
import { McpServers } from "./mcp-servers.ts";
import { mcpServerSettings, mcpSettings } from "./settings.ts";
import { McpToolsets } from "./toolsets.ts";

const databases = useDatabases();

test("reports a failure that nobody expected, and tells the client nothing of it", async () => {
  const options = await databases.create("sqlite");
  const { logger } = options;
  const database = openDatabase(options);
  const servers = new McpServers({
    servers: mcpServerSettings.parse([{ name: "wiki", url: "http://127.0.0.1:1/" }]),
    settings: mcpSettings.parse({}),
    grants: () => {
      throw new Error("no server has accounts");
    },
    logger,
  });
  const log = new McpCallLog({ database, logger, days: 0 });
  const messages = new ClientMessages(database, logger);
  const gateway = new McpGateway({
    servers,
    toolsets: new McpToolsets(servers, []),
    inference: {} as never,
    lists: new GuardedLists(),
    logger,
    log,
    messages,
    service: undefined,
  });
  const bug = new TypeError("postgres://secret");
  const reported: unknown[] = [];
  const message = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri: "mcp+wiki+docs://a" } };
  const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const request = new Request("http://localhost/mcp", { method: "POST", headers });
  const answer = await gateway.answer(message, request, {
    caller: { keyId: "key", organizationId: "org", projectId: "proj", kind: "project" },
    source: "gateway",
    onDisconnect: () => {},
    onCall: () => {
      throw bug;
    },
    onFailure: (failure) => reported.push(failure),
  });
  const text = await answer.text();

  expect(text).toContain('"code":-32603');
  expect(text).not.toContain("secret");
  expect(reported).toEqual([bug]);
  await gateway.close();
  await servers.close();
  await database.close();
});
