import type { FastifyPluginAsync, FastifyReply } from "fastify";
import { projectOf } from "../../contracts/caller.ts";
import type { InternalRequests } from "../../http/internal-requests.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { operation, routes } from "../../http/operation.ts";
import { Fault, invalidRequest, unavailable } from "../../kernel/faults.ts";
import { evaluateFormula } from "../../wire/openai/evals/formula.ts";
import {
  GraderRun,
  GraderRunBody,
  GraderValidateBody,
  GraderValidation,
  sampleValues,
  toGraderRun,
} from "../../wire/openai/evals/grader-runs.ts";
import { type Grader, refusePython } from "../../wire/openai/evals/graders.ts";
import { grade } from "./grade.ts";
import { SimilarityBudget } from "./similarity-budget.ts";

const PROJECT = { tag: "Evals", permission: "project" } as const;
/** Graders of one run, each of which may ask a model. */
const MAX_GRADERS = 20;

interface GraderParts {
  requests: Pick<InternalRequests, "run">;
  /** Time after which a run ends. */
  timeoutSeconds: number;
}

/** /v1/fine_tuning/alpha/graders */
export function graderRoutes({ requests, timeoutSeconds }: GraderParts): FastifyPluginAsync {
  return routes(
    // Refused by name, before the schema lists the types that there are.
    (app) => app.addHook("preValidation", async ({ body }) => refusePython({ grader: Object(body).grader }, "graders")),
    operation(
      "POST /fine_tuning/alpha/graders/run",
      {
        ...PROJECT,
        summary: "Grades a text, as evals do. Counts as a request; models that grade are requests of their own.",
        body: GraderRunBody,
        answer: GraderRun,
      },
      async ({ body: { grader, item = {}, model_sample: sample }, caller, reply }) => {
        check(grader);
        const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
        const signal = AbortSignal.any([leaving(reply), timeout]);
        const similarities = new SimilarityBudget(projectOf(caller));
        const calls = { requests, callerOf: async () => caller, signal, similarities };
        const beganAt = performance.now();
        const graded = await grade(calls, grader, { item, sample: sampleValues(sample) }).catch((failure: unknown) => {
          if (!timeout.aborted) throw failure;
          throw unavailable(`The grader took more than ${timeoutSeconds} s.`, "server_is_overloaded", 5);
        });
        return toGraderRun({ ...graded, seconds: (performance.now() - beganAt) / 1000 });
      },
    ),
    operation(
      "POST /fine_tuning/alpha/graders/validate",
      {
        ...PROJECT,
        summary: "Checks a grader without running it.",
        body: GraderValidateBody,
        answer: GraderValidation,
      },
      async ({ body: { grader } }) => {
        check(grader);
        return { grader: grader as unknown as Record<string, unknown> };
      },
    ),
  );
}

/** Throws a Fault for a combination of graders that cannot run. */
function check(grader: Grader): void {
  if (grader.type !== "multi") return;
  const names = Object.keys(grader.graders);
  if (names.length === 0 || names.length > MAX_GRADERS) {
    const message = `'grader.graders' must have 1 to ${MAX_GRADERS} graders, not ${names.length}.`;
    throw invalidRequest(message, "grader.graders", "invalid_value");
  }
  evaluateFormula(grader.calculate_output, Object.fromEntries(names.map((name) => [name, 1])));
}

function leaving(reply: FastifyReply): AbortSignal {
  const leaving = new AbortController();
  onDisconnect(reply)(() => leaving.abort(new Fault("client-left", "The client disconnected.")));
  return leaving.signal;
}
