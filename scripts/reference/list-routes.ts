import type { RouteOptions } from "fastify";
import { createLogger } from "../../src/observability/logger.ts";
import { buildServer, type ServerOptions } from "../../src/server.ts";

/** Lists routes such as `GET /v1/models`. Registering a route reads its services but does not call them. */
export async function listRoutes(): Promise<string[]> {
  const found = new Set<string>();
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
  const { app } = buildServer({ ...services, ...numbers, logger: createLogger("silent") } as unknown as ServerOptions);
  app.addHook("onRoute", ({ method, url }: RouteOptions) => {
    for (const each of [method].flat()) {
      if (each !== "HEAD" && each !== "OPTIONS") found.add(`${each} ${url.replace(/:(\w+)/g, "{$1}")}`);
    }
  });
  await app.ready();
  await app.close();
  return [...found];
}
