/** Verifies tokens that an issuer signed: ID tokens, logout tokens and access tokens. */

import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { KeySet } from "./key-set.ts";
import { checkClaims } from "./read-claim.ts";
import { SignOnFailure } from "./sign-on-failure.ts";

/** Asymmetric algorithms only: `none` and those with a shared secret are never accepted. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

export interface ExpectedToken extends Pick<JWTVerifyOptions, "issuer" | "audience" | "requiredClaims" | "typ"> {
  clockToleranceSeconds: number;
  now: number;
}

/** Throws a SignOnFailure that says which check failed. */
export async function verifyToken(token: string, keys: KeySet, expected: ExpectedToken): Promise<JWTPayload> {
  const { clockToleranceSeconds, now, ...claims } = expected;
  try {
    const options = { ...claims, algorithms: ALGORITHMS, clockTolerance: clockToleranceSeconds };
    const { payload } = await jwtVerify(token, keys.find, { ...options, currentDate: new Date(now) });
    if ((payload.iat ?? 0) > now / 1000 + clockToleranceSeconds) {
      throw new SignOnFailure("clock", `The token was issued ${seconds(payload.iat, now)} in the future.`);
    }
    return checkClaims(payload);
  } catch (failure) {
    throw toFailure(failure, clockToleranceSeconds, now);
  }
}

function toFailure(failure: unknown, toleranceSeconds: number, now: number): SignOnFailure {
  if (failure instanceof SignOnFailure) return failure;
  const tolerance = `at most ${toleranceSeconds} s of difference are tolerated`;
  if (failure instanceof errors.JWTExpired) {
    return new SignOnFailure(
      "clock",
      `The token expired ${seconds(failure.payload.exp, now)} ago; ${tolerance}.`,
      failure,
    );
  }
  if (failure instanceof errors.JWTClaimValidationFailed) return toClaimFailure(failure, tolerance, now);
  if (
    failure instanceof errors.JWSSignatureVerificationFailed ||
    failure instanceof errors.JOSEAlgNotAllowed ||
    failure instanceof errors.JWKSNoMatchingKey ||
    failure instanceof errors.JWKSMultipleMatchingKeys ||
    failure instanceof errors.JOSENotSupported
  ) {
    const message = "The token is not signed with a key and algorithm of the issuer.";
    return new SignOnFailure("bad-signature", message, failure);
  }
  if (failure instanceof errors.JWTInvalid || failure instanceof errors.JWSInvalid) {
    return new SignOnFailure("bad-token", "The token is not a JSON Web Token.", failure);
  }
  return new SignOnFailure("provider-unavailable", "The issuer's keys could not be read.", failure);
}

function toClaimFailure(failure: errors.JWTClaimValidationFailed, tolerance: string, now: number): SignOnFailure {
  const { claim, payload } = failure;
  if (claim === "iss")
    return new SignOnFailure("wrong-issuer", "The token's claim `iss` names another issuer.", failure);
  if (claim === "aud") {
    return new SignOnFailure("wrong-audience", "The token's claim `aud` names another service.", failure);
  }
  if (claim === "nbf") {
    const message = `The token becomes valid in ${seconds(payload.nbf, now)}; ${tolerance}.`;
    return new SignOnFailure("clock", message, failure);
  }
  return new SignOnFailure("bad-token", `The token's claim \`${claim}\` is missing or wrong.`, failure);
}

/** Distance between a time in a token and now. */
function seconds(time: unknown, now: number): string {
  return typeof time === "number" ? `${Math.abs(Math.round(time - now / 1000))} s` : "some time";
}
