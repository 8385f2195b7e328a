import type { FastifyReply } from "fastify";

const MAX_NAMES = 20;

/** Reports a request's ignored fields in a response header, in the log and in the metrics. */
export function reportIgnoredFields(reply: FastifyReply, fields: readonly string[]): void {
  if (fields.length === 0) return;
  reply.request.record.ignoredFields = fields;
  const names = fields.filter((field) => /^[\w.[\]-]{1,64}$/.test(field)).slice(0, MAX_NAMES);
  const more = fields.length - names.length;
  reply.header("x-parlance-ignored-fields", [...names, ...(more === 0 ? [] : [`and ${more} more`])].join(", "));
}
