import { setTimeout as delay } from "node:timers/promises";
import type { FastifyPluginAsync, FastifyReply } from "fastify";
import type { Accounts } from "../../accounts/accounts.ts";
import { AsyncQueue } from "../../async/async-queue.ts";
import type { ModelOperations } from "../../catalog/model-operations.ts";
import { Fault } from "../../faults.ts";
import { toModelDeleted, toModelStatus, toPullFrame } from "../../wire/openai/organization-models.ts";
import { sendEvents } from "../send-events.ts";

interface OfModel {
  Params: { id: string };
}

/** Minimum interval of progress events; a new file or phase is reported immediately. */
const PROGRESS_INTERVAL_MS = 200;

/** /v1/organization/models/{id}, /load, /unload and /pull; slashes of an ID are percent-encoded. */
export function organizationModels(accounts: Accounts, models: ModelOperations): FastifyPluginAsync {
  return async (app) => {
    // Models belong to the installation: unloading or removing one affects all organizations.
    app.addHook<OfModel>("preHandler", async ({ caller, params }) => {
      if (await accounts.organizations.isDefault(caller.organizationId)) return;
      throw new Fault("not-found", `The model \`${params.id}\` does not exist.`);
    });

    app.post<OfModel>("/models/:id/load", async ({ params }, reply) =>
      toModelStatus(await models.load(params.id, untilClosed(reply))),
    );

    app.post<OfModel>("/models/:id/unload", async ({ params }) => toModelStatus(await models.unload(params.id)));

    app.post<OfModel>("/models/:id/pull", async ({ params }, reply) => {
      const frames = new AsyncQueue<string>();
      let last = { key: "", at: 0 };
      const pulled = models.pull(params.id, untilClosed(reply), (progress) => {
        const key = `${progress.file} ${progress.phase}`;
        if (key === last.key && performance.now() - last.at < PROGRESS_INTERVAL_MS) return;
        last = { key, at: performance.now() };
        frames.push(toPullFrame(progress));
      });
      // An unknown ID is a 404 rather than an event.
      await Promise.race([pulled, delay(PROGRESS_INTERVAL_MS)]);
      void pulled.then(
        () => {
          frames.push("data: [DONE]\n\n");
          frames.end();
        },
        (failure) => frames.end(failure),
      );
      return sendEvents(reply, frames.read());
    });

    app.delete<OfModel>("/models/:id", async ({ params }) => {
      await models.remove(params.id);
      return toModelDeleted(params.id);
    });
  };
}

function untilClosed(reply: FastifyReply): AbortSignal {
  const closed = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) closed.abort(new Error("the client disconnected"));
  });
  return closed.signal;
}
