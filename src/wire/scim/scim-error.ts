/** Errors in SCIM's format (RFC 7644, section 3.12). */

import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { type ErrorAnswer, toErrorAnswer } from "../openai/error.ts";

export const SCIM_MEDIA_TYPE = "application/scim+json";
const ERROR_SCHEMA = "urn:ietf:params:scim:api:messages:2.0:Error";

const TYPES = [
  "invalidFilter",
  "invalidSyntax",
  "uniqueness",
  "mutability",
  "invalidPath",
  "noTarget",
  "invalidValue",
] as const;
type ScimType = (typeof TYPES)[number];

interface ScimErrorBody {
  schemas: string[];
  status: string;
  scimType?: ScimType;
  detail: string;
}

/** A fault that SCIM has a type for. */
export function scimFault(type: ScimType, message: string): Fault {
  return invalidRequest(message, undefined, type);
}

export function toScimErrorAnswer(failure: unknown, requestId: string): ErrorAnswer<ScimErrorBody> {
  const answer = toErrorAnswer(failure, requestId);
  const scimType = scimTypeOf(failure);
  return {
    ...answer,
    body: {
      schemas: [ERROR_SCHEMA],
      status: String(answer.status),
      ...(scimType !== undefined && { scimType }),
      detail: answer.body.error.message,
    },
  };
}

function scimTypeOf(failure: unknown): ScimType | undefined {
  if (!(failure instanceof Fault)) return undefined;
  if (failure.kind === "conflict") return "uniqueness";
  if (failure.kind !== "invalid-request") return undefined;
  const type = TYPES.find((each) => each === failure.code);
  return type ?? (failure.code === undefined ? "invalidSyntax" : "invalidValue");
}
