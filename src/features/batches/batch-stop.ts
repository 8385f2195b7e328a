import type { BatchError } from "../../wire/openai/batches.ts";

/** Why a run stops before every line is answered. */
export type Stop = "cancelled" | "expired" | "key-revoked" | "taken-over" | "stopping";

export const STATUS_AFTER: Readonly<Record<Stop, "cancelled" | "expired" | "failed">> = {
  cancelled: "cancelled",
  expired: "expired",
  "key-revoked": "failed",
  "taken-over": "cancelled",
  stopping: "cancelled",
};

export const KEY_REVOKED: BatchError = {
  code: "invalid_api_key",
  message: "The key that created this batch no longer works.",
  param: null,
  line: null,
};
