/** Who asks, proved by the Bearer key. */
export interface Caller {
  keyId: string;
  organizationId: string;
  /** Undefined for an admin key, which belongs to an organization only. */
  projectId: string | undefined;
  kind: "project" | "admin";
}
