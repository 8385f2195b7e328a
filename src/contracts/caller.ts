import type { RequestLabels } from "../kernel/usage.ts";
import type { RolePermission } from "./permissions.ts";

/**
 * Priority of requests that nobody waits for; others are interactive. `background`: takes turns with interactive ones.
 * `batch`: runs in what these leave, and gives its slot up for them.
 */
export type Priority = "background" | "batch";

/** Permissions of a user: in the entire organization, and in single projects. Plain data, which processes exchange. */
export interface Access {
  /** Permissions; those of projects apply in every project. */
  organization: readonly RolePermission[];
  /** By project ID. */
  projects: Readonly<Record<string, readonly RolePermission[]>>;
}

/** Caller authenticated by its key. */
export interface Caller {
  keyId: string;
  /** First key of the line in which each replaced the one before; undefined: it replaced none. */
  rootKeyId?: string | undefined;
  organizationId: string;
  /** Project of the key; undefined for an admin key, which belongs to an organization only. */
  projectId: string | undefined;
  kind: "project" | "admin";
  /** Session of the console with which the request came; undefined: none. */
  sessionId?: string | undefined;
  /** User who is signed in, or to whom the key belongs. */
  userId?: string | undefined;
  /** Permissions of the user; undefined for a key without a user, which has all of its kind. */
  access?: Access | undefined;
  /** True for a key with a list of permissions, which acts for its user only as far as the list says. */
  isRestricted?: true;
  /** True for commands of the operator, which administer every organization. */
  isOperator?: true;
  /** Undefined: interactive. */
  priority?: Priority;
  /** What the request belongs to; undefined: nothing, or labels are not recorded. */
  labels?: RequestLabels | undefined;
}

/** Returns the ID under which limits count a key: a key that replaces another one continues its count. */
export function countedKeyId({ keyId, rootKeyId }: Pick<Caller, "keyId" | "rootKeyId">): string {
  return rootKeyId ?? keyId;
}

/** Project whose turn a caller's work takes. */
export function projectOf({ projectId, organizationId }: Caller): string {
  return projectId ?? organizationId;
}
