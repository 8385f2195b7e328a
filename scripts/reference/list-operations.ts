import { createLogger } from "../../src/observability/logger.ts";
import { buildServer, type ServerOptions } from "../../src/server.ts";
import type { RegisteredOperation } from "../../src/wire/openapi/operation.ts";

/** Lists the operations of every route. Registering a route reads its services but does not call them. */
export async function listOperations(): Promise<readonly RegisteredOperation[]> {
  const numbers = { corsOrigins: [], maxBodyBytes: 1024, receiveTimeoutSeconds: 1, requestTimeoutSeconds: 1 };
  const services = {
    accounts: {},
    administration: { limited: {} },
    operations: {},
    transcription: {},
    realtime: {},
    consoleFolder: import.meta.dirname,
    servesOllama: true,
    anonymousHosts: [],
  };
  const { app, operations } = buildServer({
    ...services,
    ...numbers,
    logger: createLogger("silent"),
  } as unknown as ServerOptions);
  await app.ready();
  await app.close();
  return operations;
}
