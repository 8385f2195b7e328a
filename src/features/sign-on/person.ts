/** What a provider says about a person. */

import type { JWTPayload } from "jose";
import { readClaim, readText, readTexts } from "./read-claim.ts";
import type { ProviderSettings } from "./settings.ts";

const MAX_GROUPS = 2_000;

export interface Person {
  /** Permanent at the issuer, unlike the address. */
  subject: string;
  email: string | undefined;
  isEmailVerified: boolean;
  name: string | undefined;
  /** Groups by the provider's names. */
  groups: readonly string[];
}

type ClaimSettings = Pick<ProviderSettings, "groupsClaim" | "emailClaim" | "nameClaim" | "trustEmail" | "rules">;

/** `isComplete`: whether the claims say everything that the settings need. */
export function toPerson(claims: JWTPayload, settings: ClaimSettings): { person: Person; isComplete: boolean } {
  const groups = readTexts(claims, settings.groupsClaim);
  const email = readText(claims, settings.emailClaim);
  const needsGroups = settings.rules.some(({ group }) => group !== "*");
  // Some providers send the text "true".
  const verified = readClaim(claims, "email_verified");
  return {
    person: {
      subject: claims.sub ?? "",
      email,
      isEmailVerified: settings.trustEmail || verified === true || verified === "true",
      name: readText(claims, settings.nameClaim),
      groups: (groups ?? []).slice(0, MAX_GROUPS),
    },
    isComplete: email !== undefined && (groups !== undefined || !needsGroups),
  };
}
