/** The error of a response that failed: its codes are a closed list, which typed clients refuse others of. */

import type { ErrorBody } from "../openai/error.ts";

export const RESPONSE_ERROR_CODES = [
  "server_error",
  "rate_limit_exceeded",
  "invalid_prompt",
  "data_residency_mismatch",
  "bio_policy",
  "misalignment_policy_violation",
  "vector_store_timeout",
  "invalid_image",
  "invalid_image_format",
  "invalid_base64_image",
  "invalid_image_url",
  "image_too_large",
  "image_too_small",
  "image_parse_error",
  "image_content_policy_violation",
  "invalid_image_mode",
  "image_file_too_large",
  "unsupported_image_media_type",
  "empty_image_file",
  "failed_to_download_image",
  "image_file_not_found",
] as const;

export type ResponseErrorCode = (typeof RESPONSE_ERROR_CODES)[number];

/** Codes of other failures, by the type of the error. */
const CODES_BY_TYPE: Readonly<Record<string, ResponseErrorCode>> = {
  invalid_request_error: "invalid_prompt",
  requests: "rate_limit_exceeded",
  tokens: "rate_limit_exceeded",
  insufficient_quota: "rate_limit_exceeded",
};

export function toResponseError({ error }: ErrorBody): {
  code: ResponseErrorCode;
  message: string;
  type: string;
  param: string | null;
} {
  const { message, type, param } = error;
  const code = RESPONSE_ERROR_CODES.find((each) => each === error.code) ?? CODES_BY_TYPE[type] ?? "server_error";
  return { code, message, type, param };
}
