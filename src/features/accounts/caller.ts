/**
 * Priority of requests that nobody waits for; others are interactive. `background`: takes turns with interactive ones.
 * `batch`: runs in what these leave, and gives its slot up for them.
 */
export type Priority = "background" | "batch";

/** Caller authenticated by its key. */
export interface Caller {
  keyId: string;
  organizationId: string;
  /** Project of the key; undefined for an admin key, which belongs to an organization only. */
  projectId: string | undefined;
  kind: "project" | "admin";
  /** Undefined: interactive. */
  priority?: Priority;
}
