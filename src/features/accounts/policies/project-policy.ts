/** Policies of projects: one definition gives their operations below /v1/organization, storage and audit. */

import type { FastifyPluginAsync, FastifyRequest } from "fastify";
import type { z } from "zod";
import { operation, routes } from "../../../http/operation.ts";
import type { Executor } from "../../../storage/database.ts";
import type { Requirement } from "../../../wire/openapi/operation.ts";
import type { ProjectRow } from "../account-rows.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import { actorOf } from "../audit/actor.ts";
import type { AuditEvent } from "../audit/audit.ts";
import { projectOf } from "../projects/project-routes.ts";
import { findActiveProject, findExistingProject } from "../projects/projects.ts";

interface OfProject {
  Params: { project: string };
}

/** `Body` is what the caller sends, as parsed; `Value` is what is stored. */
export interface ProjectPolicy<Body, Value> {
  /** Last segment of `/projects/{project}/…`. */
  path: string;
  summaries: { retrieve: string; replace: string; remove?: string };
  /** Permission to read it; default `project.read`. Changing it needs `project.limits.write`. */
  reads?: Requirement;
  body: z.ZodType<Body>;
  answer: z.ZodType;
  /** Finds what a project has. Throws a Fault where that is an error. */
  find(executor: Executor, project: ProjectRow): Promise<Value>;
  /** Checks what was sent. Throws a Fault. */
  toValue(body: Body, request: FastifyRequest): Value;
  put(transaction: AccountTransaction, project: ProjectRow, value: Value): Promise<void>;
  /** What the audit log says of a change; null: it was removed. */
  details(value: Value | null): AuditEvent["details"];
  toAnswer(value: Value): unknown;
  /** Called once the change is committed. */
  onChanged?(projectId: string): void;
  /** Left out: it is replaced only. */
  removal?: {
    answer: z.ZodType;
    /** Returns false when there was none. */
    remove(executor: Executor, project: ProjectRow): Promise<boolean>;
    toAnswer(isRemoved: boolean): unknown;
  };
}

/** The routes of a policy. */
export function projectPolicyRoutes<Body, Value>(
  transactions: AccountTransactions,
  policy: ProjectPolicy<Body, Value>,
): FastifyPluginAsync {
  const path = `/projects/:project/${policy.path}` as const;
  const { summaries, answer, body, removal } = policy;
  const common = { tag: "Projects", permission: "admin" } as const;
  const write = { ...common, requires: "project.limits.write" } as const;
  const find = (request: FastifyRequest<OfProject>) =>
    transactions.database.run(async (executor) =>
      policy.find(executor, await findExistingProject(executor, projectOf(request))),
    );
  const change = async <Result>(
    request: FastifyRequest<OfProject>,
    work: (
      transaction: AccountTransaction,
      project: ProjectRow,
    ) => Promise<[Result, AuditEvent["details"] | undefined]>,
  ): Promise<Result> => {
    const result = await transactions.run(actorOf(request), async (transaction) => {
      const project = await findActiveProject(transaction.executor, projectOf(request));
      const [value, details] = await work(transaction, project);
      const { organizationId, id: resourceId } = project;
      if (details !== undefined) {
        await transaction.audit({ type: "project.updated", organizationId, project, resourceId, details });
      }
      return value;
    });
    policy.onChanged?.(request.params.project);
    return result;
  };
  return routes(
    operation(
      `GET ${path}`,
      { ...common, requires: policy.reads ?? "project.read", summary: summaries.retrieve, answer },
      async ({ request }) => policy.toAnswer(await find(request)),
    ),
    operation(`POST ${path}`, { ...write, summary: summaries.replace, body, answer }, async ({ body, request }) => {
      const value = policy.toValue(body, request);
      await change(request, async (transaction, project) => {
        await policy.put(transaction, project, value);
        return [undefined, policy.details(value)];
      });
      return policy.toAnswer(await find(request));
    }),
    ...(removal === undefined
      ? []
      : [
          operation(
            `DELETE ${path}`,
            { ...write, summary: summaries.remove ?? "", answer: removal.answer },
            async ({ request }) => {
              const isRemoved = await change(request, async ({ executor }, project) => {
                const wasThere = await removal.remove(executor, project);
                return [wasThere, wasThere ? policy.details(null) : undefined];
              });
              return removal.toAnswer(isRemoved);
            },
          ),
        ]),
  );
}

/** Inserts the row of a project, or replaces it. */
export async function putProjectRow(
  executor: Executor,
  table: "moderationPolicies" | "projectGuardrails" | "projectRecordings",
  row: { projectId: string },
): Promise<void> {
  const { projectId: _project, ...values } = row;
  await executor
    .insertInto(table)
    .values(row as never)
    .onConflict((conflict) => conflict.column("projectId").doUpdateSet(values as never))
    .execute();
}
