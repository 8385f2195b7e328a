import type { FastifyInstance } from "fastify";

/** Answers `GET /` and `HEAD /` as Ollama does, by which clients detect it; browsers get the console. */
export function answerAsOllama(app: FastifyInstance): void {
  app.addHook("onRequest", (request, reply, done) => {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (request.url !== "/" || !isRead || request.headers.accept?.includes("text/html") === true) return done();
    reply.type("text/plain; charset=utf-8").send("Ollama is running");
  });
}
