/** Caller authenticated by its key. */
export interface Caller {
  keyId: string;
  organizationId: string;
  /** Project of the key; undefined for an admin key, which belongs to an organization only. */
  projectId: string | undefined;
  kind: "project" | "admin";
}
