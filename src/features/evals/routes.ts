import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../http/operation.ts";
import {
  Eval,
  EvalCreateBody,
  EvalDeleted,
  EvalList,
  EvalListQuery,
  EvalOutputItem,
  EvalOutputItemList,
  EvalRun,
  EvalRunBody,
  EvalRunDeleted,
  EvalRunList,
  EvalUpdateBody,
  OutputItemQuery,
  type ShownRun,
  toEval,
  toEvalRun,
  toOutputItem,
} from "../../wire/openai/evals/evals.ts";
import { refusePython } from "../../wire/openai/evals/graders.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { parse } from "../../wire/openai/validate.ts";
import { projectOf } from "../responses/routes.ts";
import type { Evals } from "./evals.ts";

interface OfEval {
  Params: { eval: string };
}

interface OfRun {
  Params: { eval: string; run: string };
}

interface OfItem {
  Params: { eval: string; run: string; item: string };
}

const PROJECT = { tag: "Evals", permission: "project" } as const;

/** /v1/evals */
export function evalRoutes(evals: Evals): FastifyPluginAsync {
  return async (app) => {
    app.get(
      "/evals",
      operation({ ...PROJECT, summary: "Lists the evals of the project.", query: EvalListQuery, answer: EvalList }),
      async (request) => {
        const { after, limit, order } = parse(EvalListQuery, request.query);
        return toListBody(await evals.list({ projectId: projectOf(request), after, limit, order }), toEval);
      },
    );

    app.post(
      "/evals",
      operation({
        ...PROJECT,
        summary: "Creates an eval: the form of its rows, and the graders that decide whether a sample passes.",
        body: EvalCreateBody,
        answer: Eval,
      }),
      async (request) => {
        refusePython(Object(request.body).testing_criteria, "testing_criteria");
        const body = parse(EvalCreateBody, request.body);
        const definition = { dataSourceConfig: body.data_source_config, testingCriteria: body.testing_criteria };
        return toEval(await evals.create(callerOf(request), { name: body.name, metadata: body.metadata, definition }));
      },
    );

    app.get<OfEval>(
      "/evals/:eval",
      operation({ ...PROJECT, summary: "Retrieves an eval.", answer: Eval }),
      async (request) => toEval(await evals.find(evalOf(request))),
    );

    app.post<OfEval>(
      "/evals/:eval",
      operation({
        ...PROJECT,
        summary: "Changes the name and metadata of an eval.",
        body: EvalUpdateBody,
        answer: Eval,
      }),
      async (request) => toEval(await evals.update(evalOf(request), parse(EvalUpdateBody, request.body))),
    );

    app.delete<OfEval>(
      "/evals/:eval",
      operation({ ...PROJECT, summary: "Deletes an eval with its runs.", answer: EvalDeleted }),
      async (request) => {
        await evals.delete(evalOf(request));
        return { object: "eval.deleted" as const, deleted: true, eval_id: request.params.eval };
      },
    );

    app.get<OfEval>(
      "/evals/:eval/runs",
      operation({ ...PROJECT, summary: "Lists the runs of an eval.", query: EvalListQuery, answer: EvalRunList }),
      async (request) => {
        const { after, limit, order } = parse(EvalListQuery, request.query);
        const page = await evals.listRuns(evalOf(request), { after, limit, order });
        return toListBody(page, (run) => show(request, run));
      },
    );

    app.post<OfEval>(
      "/evals/:eval/runs",
      operation({
        ...PROJECT,
        summary:
          "Runs an eval over rows of the request or of a file, with a model or a version of a stored prompt. Its requests have the priority of batches.",
        body: EvalRunBody,
        answer: EvalRun,
      }),
      async (request) => {
        const { name, metadata, data_source: source } = parse(EvalRunBody, request.body);
        const owner = { ...callerOf(request), evalId: request.params.eval };
        return show(request, await evals.createRun(owner, { name, metadata, source }));
      },
    );

    app.get<OfRun>(
      "/evals/:eval/runs/:run",
      operation({ ...PROJECT, summary: "Retrieves a run with its counts so far.", answer: EvalRun }),
      async (request) => show(request, await evals.findRun(runOf(request))),
    );

    app.post<OfRun>(
      "/evals/:eval/runs/:run/cancel",
      operation({ ...PROJECT, summary: "Cancels a run; the results so far stay.", answer: EvalRun }),
      async (request) => show(request, await evals.cancelRun(runOf(request))),
    );

    app.delete<OfRun>(
      "/evals/:eval/runs/:run",
      operation({ ...PROJECT, summary: "Deletes a run with its results.", answer: EvalRunDeleted }),
      async (request) => {
        await evals.deleteRun(runOf(request));
        return { object: "eval.run.deleted" as const, deleted: true, run_id: request.params.run };
      },
    );

    app.get<OfRun>(
      "/evals/:eval/runs/:run/output_items",
      operation({
        ...PROJECT,
        summary: "Lists the rows of a run with samples and results.",
        query: OutputItemQuery,
        answer: EvalOutputItemList,
      }),
      async (request) => {
        const { after, limit, order, status } = parse(OutputItemQuery, request.query);
        return toListBody(await evals.listItems(runOf(request), { after, limit, order, status }), toOutputItem);
      },
    );

    app.get<OfItem>(
      "/evals/:eval/runs/:run/output_items/:item",
      operation({ ...PROJECT, summary: "Retrieves a row of a run.", answer: EvalOutputItem }),
      async (request) => toOutputItem(await evals.findItem(runOf(request), request.params.item)),
    );
  };
}

function callerOf(request: FastifyRequest) {
  return { projectId: projectOf(request), keyId: request.caller.keyId };
}

function evalOf(request: FastifyRequest<OfEval>) {
  return { projectId: projectOf(request), id: request.params.eval };
}

function runOf(request: FastifyRequest<OfRun>) {
  return { projectId: projectOf(request), evalId: request.params.eval, id: request.params.run };
}

function show({ protocol, host }: Pick<FastifyRequest, "protocol" | "host">, run: ShownRun) {
  return toEvalRun(run, `${protocol}://${host}`);
}
