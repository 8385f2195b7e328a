import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { newId } from "../../kernel/id.ts";
import {
  EvalComparison,
  EvalComparisonBody,
  EvalOutputItem,
  EvalOutputItemList,
  EvalRun,
  EvalRunBody,
  EvalRunDeleted,
  EvalRunList,
  EvalRunListQuery,
  OutputItemQuery,
  type ShownRun,
  toEvalRun,
  toOutputItem,
} from "../../wire/openai/evals/eval-runs.ts";
import {
  Eval,
  EvalCreateBody,
  EvalDeleted,
  EvalList,
  EvalListQuery,
  EvalUpdateBody,
  toEval,
} from "../../wire/openai/evals/evals.ts";
import { refusePython } from "../../wire/openai/evals/graders.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import { parse } from "../../wire/openai/validate.ts";
import { projectAuthorOf } from "../accounts/index.ts";
import type { EvalRuns } from "./eval-runs.ts";
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
export function evalRoutes(evals: Evals, runs: EvalRuns): FastifyPluginAsync {
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
        others: { 201: Eval },
      }),
      async (request, reply) => {
        refusePython(Object(request.body).testing_criteria, "testing_criteria");
        const body = parse(EvalCreateBody, request.body);
        const definition = { dataSourceConfig: body.data_source_config, testingCriteria: body.testing_criteria };
        const { name, metadata } = body;
        const author = projectAuthorOf(request);
        reply.code(201);
        return toEval(await evals.create(author, projectOf(request), { name, metadata, definition }));
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
      async (request) => {
        const change = parse(EvalUpdateBody, request.body);
        return toEval(await evals.update(projectAuthorOf(request), evalOf(request), change));
      },
    );

    app.delete<OfEval>(
      "/evals/:eval",
      operation({ ...PROJECT, summary: "Deletes an eval with its runs.", answer: EvalDeleted }),
      async (request) => {
        await evals.delete(projectAuthorOf(request), evalOf(request));
        return { object: "eval.deleted" as const, deleted: true, eval_id: request.params.eval };
      },
    );

    app.get<OfEval>(
      "/evals/:eval/runs",
      operation({ ...PROJECT, summary: "Lists the runs of an eval.", query: EvalRunListQuery, answer: EvalRunList }),
      async (request) => {
        const { after, limit, order, status, comparison_id: comparisonId } = parse(EvalRunListQuery, request.query);
        const page = await runs.list(evalOf(request), { after, limit, order, status, comparisonId });
        return toListBody(page, (run) => show(request, run));
      },
    );

    app.post<OfEval>(
      "/evals/:eval/runs",
      operation({
        ...PROJECT,
        summary:
          "Runs an eval over rows of the request, of a file or of stored answers, with a model or a version of a stored prompt. Its requests have the priority of batches.",
        body: EvalRunBody,
        others: { 201: EvalRun },
      }),
      async (request, reply) => {
        const { name, metadata, data_source: source } = parse(EvalRunBody, request.body);
        const created = { metadata, comparisonId: undefined, runs: [{ name, source }] };
        const [run] = await runs.create(projectAuthorOf(request), evalOf(request), created);
        reply.code(201);
        return show(request, run as ShownRun);
      },
    );

    app.post<OfEval>(
      "/evals/:eval/comparisons",
      operation({
        ...PROJECT,
        summary:
          "Runs an eval over the same rows with several models or versions of stored prompts, one run each. Not in OpenAI's API.",
        body: EvalComparisonBody,
        answer: EvalComparison,
      }),
      async (request) => {
        const { metadata, data_source: source, variants } = parse(EvalComparisonBody, request.body);
        const id = newId("evalcmp_");
        const compared = variants.map(({ name, input_messages: messages, ...variant }) => {
          const { input_messages: common, ...rows } = source;
          const input = messages === undefined ? common : (messages ?? undefined);
          return { name, source: { ...rows, ...variant, ...(input !== undefined && { input_messages: input }) } };
        });
        const created = { metadata, comparisonId: id, runs: compared };
        const shown = await runs.create(projectAuthorOf(request), evalOf(request), created);
        const object = "eval.comparison" as const;
        return { id, object, eval_id: request.params.eval, runs: shown.map((run) => show(request, run)) };
      },
    );

    app.get<OfRun>(
      "/evals/:eval/runs/:run",
      operation({ ...PROJECT, summary: "Retrieves a run with its counts so far.", answer: EvalRun }),
      async (request) => show(request, await runs.find(runOf(request))),
    );

    // OpenAI's document has the first path, its SDKs the second.
    for (const path of ["/evals/:eval/runs/:run", "/evals/:eval/runs/:run/cancel"]) {
      app.post<OfRun>(
        path,
        operation({ ...PROJECT, summary: "Cancels a run; the results so far stay.", answer: EvalRun }),
        async (request) => show(request, await runs.cancel(projectAuthorOf(request), runOf(request))),
      );
    }

    app.delete<OfRun>(
      "/evals/:eval/runs/:run",
      operation({ ...PROJECT, summary: "Deletes a run with its results.", answer: EvalRunDeleted }),
      async (request) => {
        await runs.delete(projectAuthorOf(request), runOf(request));
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
        return toListBody(await runs.listItems(runOf(request), { after, limit, order, status }), toOutputItem);
      },
    );

    app.get<OfItem>(
      "/evals/:eval/runs/:run/output_items/:item",
      operation({ ...PROJECT, summary: "Retrieves a row of a run.", answer: EvalOutputItem }),
      async (request) => toOutputItem(await runs.findItem(runOf(request), request.params.item)),
    );
  };
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
