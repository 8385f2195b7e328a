/** Claims by their path: dots descend into objects, as in Keycloak's `realm_access.roles`. */

import type { JWTPayload } from "jose";
import { SignOnFailure } from "./sign-on-failure.ts";

/** A name of a claim may contain dots, as those of Auth0 do, which are URLs. */
export function readClaim(claims: JWTPayload, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const part of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

/** Returns the claims. Throws a SignOnFailure for NUL in any of them: PostgreSQL refuses it (SQLSTATE 22021). */
export function checkClaims<Claims extends JWTPayload>(claims: Claims): Claims {
  const remaining: unknown[] = [claims];
  while (remaining.length > 0) {
    const value = remaining.pop();
    if (typeof value === "string" && value.includes("\0")) {
      const message = "A claim of the provider has a NUL character (U+0000), which cannot be stored.";
      throw new SignOnFailure("bad-token", message);
    }
    if (typeof value !== "object" || value === null) continue;
    for (const entry of Object.entries(value)) remaining.push(...entry);
  }
  return claims;
}

/** Returns a claim that is a text or a list of texts; undefined without it. */
export function readTexts(claims: JWTPayload, path: string): string[] | undefined {
  const value = readClaim(claims, path);
  if (value === undefined || value === null) return undefined;
  return [value].flat().filter((each): each is string => typeof each === "string");
}

/** Returns a claim that is a text and not empty. */
export function readText(claims: JWTPayload, path: string): string | undefined {
  const value = readClaim(claims, path);
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}
