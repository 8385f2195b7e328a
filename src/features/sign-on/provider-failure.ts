/** What failed requests to a provider, and its refusals, mean for the person. */

import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from "openid-client";
import { type FailureReason, SignOnFailure } from "./sign-on-failure.ts";

/** Error codes of OAuth at the token endpoint (RFC 6749, 5.2). */
const TOKEN_ERRORS: Readonly<Record<string, FailureReason>> = {
  invalid_grant: "code-refused",
  invalid_client: "client-refused",
  unauthorized_client: "client-refused",
};
/** Error codes at the authorization endpoint (RFC 6749, 4.1.2.1). */
const AUTHORIZATION_ERRORS: Readonly<Record<string, FailureReason>> = {
  access_denied: "denied",
  temporarily_unavailable: "provider-unavailable",
  unauthorized_client: "client-refused",
};
const CLAIM_FAILURES: Readonly<Record<string, FailureReason>> = { iss: "wrong-issuer", aud: "wrong-audience" };
const MAX_DESCRIPTION = 300;

/** `name`: the provider's, for the message. */
export function toProviderFailure(failure: unknown, name: string): SignOnFailure {
  if (failure instanceof SignOnFailure) return failure;
  if (failure instanceof AuthorizationResponseError) {
    return answered(AUTHORIZATION_ERRORS[failure.error] ?? "provider-error", name, failure);
  }
  if (failure instanceof ResponseBodyError) {
    const reason = failure.status >= 500 ? "provider-unavailable" : (TOKEN_ERRORS[failure.error] ?? "provider-error");
    return answered(reason, name, failure);
  }
  if (failure instanceof WWWAuthenticateChallengeError) {
    const isRefused = failure.status < 500;
    const message = `${name} no longer accepts the session's token.`;
    return new SignOnFailure(isRefused ? "code-refused" : "provider-unavailable", message, failure);
  }
  if (failure instanceof ClientError) return fromClientError(failure, name);
  return new SignOnFailure("provider-unavailable", `${name} could not be reached.`, failure);
}

function fromClientError(failure: ClientError, name: string): SignOnFailure {
  const { code, cause } = failure;
  switch (code) {
    case "OAUTH_TIMEOUT":
      return new SignOnFailure("provider-unavailable", `${name} did not answer in time.`, failure);
    case "OAUTH_JWT_TIMESTAMP_CHECK_FAILED":
      return new SignOnFailure("clock", `The ID token of ${name} is not valid at this service's time.`, failure);
    case "OAUTH_JWT_CLAIM_COMPARISON_FAILED":
    case "OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED": {
      const { claim, attribute } = detailsOf(cause instanceof Error ? cause.cause : undefined);
      const field = claim ?? attribute ?? "iss";
      const message = `The answer of ${name} has another \`${field}\` than expected.`;
      const reason = field === "issuer" ? "wrong-issuer" : (CLAIM_FAILURES[field] ?? "bad-token");
      return new SignOnFailure(reason, message, failure);
    }
  }
  const status = statusOf(cause);
  if (status !== undefined && (status >= 500 || status === 429)) {
    return new SignOnFailure("provider-unavailable", `${name} answered with status ${status}.`, failure);
  }
  const answerFailure = fromAnswer(failure, name);
  if (answerFailure !== undefined) return answerFailure;
  const suffix = status === undefined ? "" : ` with status ${status}`;
  return new SignOnFailure("provider-error", `${name} gave an unexpected answer${suffix}.`, failure);
}

function fromAnswer(failure: ClientError, name: string): SignOnFailure | undefined {
  const { code, cause } = failure;
  // A response parameter `iss` of another issuer (RFC 9207), or a `state` that differs.
  const text = messageOf(cause) + failure.message;
  if (/"iss"|issuer/.test(text)) {
    return new SignOnFailure("wrong-issuer", `The answer to the sign-in at ${name} names another issuer.`, failure);
  }
  if (text.includes('"state"')) {
    return new SignOnFailure("expired", "The answer belongs to another sign-in.", failure);
  }
  if (code === undefined || code === "OAUTH_INVALID_RESPONSE" || code === "OAUTH_PARSE_ERROR") {
    return new SignOnFailure("bad-token", `${name} gave an answer that is not one of OpenID Connect.`, failure);
  }
  return undefined;
}

function answered(reason: FailureReason, name: string, failure: AuthorizationResponseError | ResponseBodyError) {
  const { error, error_description: description } = failure;
  // Providers write for developers; control characters would break lines of logs.
  const detail =
    description === undefined ? "" : `: ${description.replace(/\p{Cc}+/gu, " ").slice(0, MAX_DESCRIPTION)}`;
  return new SignOnFailure(reason, `${name} answered \`${error.slice(0, 100)}\`${detail}`, failure);
}

/** What oauth4webapi compared. */
function detailsOf(cause: unknown): { claim?: string; attribute?: string } {
  return typeof cause === "object" && cause !== null ? cause : {};
}

function statusOf(cause: unknown): number | undefined {
  return cause instanceof Response ? cause.status : undefined;
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : "";
}
