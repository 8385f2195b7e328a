import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import { operation, rawOperation, routes } from "../../http/operation.ts";
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

const PROJECT = { tag: "Evals", permission: "project" } as const;

/** /v1/evals */
export function evalRoutes(evals: Evals, runs: EvalRuns): FastifyPluginAsync {
  return routes(
    operation(
      "GET /evals",
      { ...PROJECT, summary: "Lists the evals of the project.", query: EvalListQuery, answer: EvalList },
      async ({ query: { after, limit, order }, request }) => {
        return toListBody(await evals.list({ projectId: projectOf(request), after, limit, order }), toEval);
      },
    ),
    rawOperation(
      "POST /evals",
      {
        ...PROJECT,
        summary: "Creates an eval: the form of its rows, and the graders that decide whether a sample passes.",
        body: EvalCreateBody,
        others: { 201: Eval },
      },
      async (request, reply) => {
        refusePython(Object(request.body).testing_criteria, "testing_criteria");
        const body = parse(EvalCreateBody, request.body);
        const definition = { dataSourceConfig: body.data_source_config, testingCriteria: body.testing_criteria };
        const { name, metadata } = body;
        const author = projectAuthorOf(request);
        reply.code(201);
        return toEval(await evals.create(author, projectOf(request), { name, metadata, definition }));
      },
    ),
    operation("GET /evals/:eval", { ...PROJECT, summary: "Retrieves an eval.", answer: Eval }, async ({ request }) =>
      toEval(await evals.find(evalOf(request))),
    ),
    operation(
      "POST /evals/:eval",
      {
        ...PROJECT,
        summary: "Changes the name and metadata of an eval.",
        body: EvalUpdateBody,
        answer: Eval,
      },
      async ({ body, request }) => {
        const change = body;
        return toEval(await evals.update(projectAuthorOf(request), evalOf(request), change));
      },
    ),
    operation(
      "DELETE /evals/:eval",
      { ...PROJECT, summary: "Deletes an eval with its runs.", answer: EvalDeleted },
      async ({ params, request }) => {
        await evals.delete(projectAuthorOf(request), evalOf(request));
        return { object: "eval.deleted" as const, deleted: true, eval_id: params.eval };
      },
    ),
    operation(
      "GET /evals/:eval/runs",
      { ...PROJECT, summary: "Lists the runs of an eval.", query: EvalRunListQuery, answer: EvalRunList },
      async ({ query: { after, limit, order, status, comparison_id: comparisonId }, request }) => {
        const page = await runs.list(evalOf(request), { after, limit, order, status, comparisonId });
        return toListBody(page, (run) => show(request, run));
      },
    ),
    operation(
      "POST /evals/:eval/runs",
      {
        ...PROJECT,
        summary:
          "Runs an eval over rows of the request, of a file or of stored answers, with a model or a version of a stored prompt. Its requests have the priority of batches.",
        body: EvalRunBody,
        others: { 201: EvalRun },
      },
      async ({ body: { name, metadata, data_source: source }, request, reply }) => {
        const created = { metadata, comparisonId: undefined, runs: [{ name, source }] };
        const [run] = await runs.create(projectAuthorOf(request), evalOf(request), created);
        reply.code(201);
        return show(request, run as ShownRun);
      },
    ),
    operation(
      "POST /evals/:eval/comparisons",
      {
        ...PROJECT,
        summary:
          "Runs an eval over the same rows with several models or versions of stored prompts, one run each. Not in OpenAI's API.",
        body: EvalComparisonBody,
        answer: EvalComparison,
      },
      async ({ params, body: { metadata, data_source: source, variants }, request }) => {
        const id = newId("evalcmp_");
        const compared = variants.map(({ name, input_messages: messages, ...variant }) => {
          const { input_messages: common, ...rows } = source;
          const input = messages === undefined ? common : (messages ?? undefined);
          return { name, source: { ...rows, ...variant, ...(input !== undefined && { input_messages: input }) } };
        });
        const created = { metadata, comparisonId: id, runs: compared };
        const shown = await runs.create(projectAuthorOf(request), evalOf(request), created);
        const object = "eval.comparison" as const;
        return { id, object, eval_id: params.eval, runs: shown.map((run) => show(request, run)) };
      },
    ),
    operation(
      "GET /evals/:eval/runs/:run",
      { ...PROJECT, summary: "Retrieves a run with its counts so far.", answer: EvalRun },
      async ({ request }) => show(request, await runs.find(runOf(request))),
    ),
    // OpenAI's document has the first path, its SDKs the second.
    ...(["/evals/:eval/runs/:run", "/evals/:eval/runs/:run/cancel"] as const).map((path) =>
      operation(
        `POST ${path}`,
        { ...PROJECT, counts: "never", summary: "Cancels a run; the results so far stay.", answer: EvalRun },
        async ({ request }) => show(request, await runs.cancel(projectAuthorOf(request), runOf(request))),
      ),
    ),
    operation(
      "DELETE /evals/:eval/runs/:run",
      { ...PROJECT, summary: "Deletes a run with its results.", answer: EvalRunDeleted },
      async ({ params, request }) => {
        await runs.delete(projectAuthorOf(request), runOf(request));
        return { object: "eval.run.deleted" as const, deleted: true, run_id: params.run };
      },
    ),
    operation(
      "GET /evals/:eval/runs/:run/output_items",
      {
        ...PROJECT,
        summary: "Lists the rows of a run with samples and results.",
        query: OutputItemQuery,
        answer: EvalOutputItemList,
      },
      async ({ query: { after, limit, order, status }, request }) => {
        return toListBody(await runs.listItems(runOf(request), { after, limit, order, status }), toOutputItem);
      },
    ),
    operation(
      "GET /evals/:eval/runs/:run/output_items/:item",
      { ...PROJECT, summary: "Retrieves a row of a run.", answer: EvalOutputItem },
      async ({ params, request }) => toOutputItem(await runs.findItem(runOf(request), params.item)),
    ),
  );
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
