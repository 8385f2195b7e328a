/** Bodies of /console/session. */

import { z } from "zod";
import type { AnswerOf } from "../openapi/named.ts";
import type { ConsoleSession, SignedOut, SignInCode } from "../openapi/service-answers.ts";

const MAX_LENGTH = 512;

const secret = z.string().min(1).max(MAX_LENGTH);

/** An API key or admin key, or the code of a sign-in link. */
export const ConsoleSignInBody = z.union([z.strictObject({ key: secret }), z.strictObject({ code: secret })]);

interface ShownSession {
  version: string;
  organization: { id: string; name: string; isDefault: number };
  isAdmin: boolean;
  /** Project of the session's API key, which calls models. */
  project: { id: string; name: string } | undefined;
}

export function toConsoleSession(session: ShownSession | undefined): AnswerOf<typeof ConsoleSession> {
  if (session === undefined) return { object: "console.session" as const, signed_in: false as const };
  const { version, organization, isAdmin, project } = session;
  return {
    object: "console.session" as const,
    signed_in: true as const,
    version,
    organization: { id: organization.id, name: organization.name, is_default: organization.isDefault === 1 },
    is_admin: isAdmin,
    project: project === undefined ? null : { id: project.id, name: project.name },
  };
}

export function toSignInCode(code: string): AnswerOf<typeof SignInCode> {
  return { object: "console.sign_in_code" as const, code };
}

export function toSignedOut(): AnswerOf<typeof SignedOut> {
  return { object: "console.session.deleted" as const, deleted: true };
}
