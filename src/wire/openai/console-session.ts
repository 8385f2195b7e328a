/** Bodies of /console/session, /console/password and /console/first_owner. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import type { ConsoleInvite, ConsoleSession, PasswordLink, SignedOut, SignInCode } from "../openapi/service-answers.ts";

const MAX_LENGTH = 512;

const secret = z.string().min(1).max(MAX_LENGTH);
const email = z.string().trim().min(3).max(320);
const name = z.string().trim().min(1).max(200);

/** An API key or admin key, the code of a sign-in link, or the password of a user. */
export const ConsoleSignInBody = named(
  "ConsoleSignInBody",
  z.union([
    z.strictObject({ key: secret }),
    z.strictObject({ code: secret }),
    z.strictObject({ email, password: secret }),
  ]),
);

export const ConsoleProjectBody = named(
  "ConsoleProjectBody",
  lazy.strictObject(() => ({ project: z.string().min(1).max(200) })),
);

/** The token of a link, or the current password. */
export const ConsolePasswordBody = named(
  "ConsolePasswordBody",
  z.union([
    z.strictObject({ token: secret, password: secret }),
    z.strictObject({ current_password: secret, password: secret }),
  ]),
);

export const ConsoleInviteBody = named("ConsoleInviteBody", z.strictObject({ token: secret }));

export const ConsoleInviteAcceptBody = named(
  "ConsoleInviteAcceptBody",
  z.strictObject({ token: secret, name, password: secret }),
);

export const ConsoleFirstOwnerBody = named("ConsoleFirstOwnerBody", z.strictObject({ email, name, password: secret }));

interface SignInOptions {
  providers: readonly { id: string; name: string }[];
  /** Whether people may have passwords. */
  allowsPasswords: boolean;
  /** Whether anybody has one. */
  hasPasswords: boolean;
  hasKeys: boolean;
}

interface ShownUser {
  id: string;
  email: string;
  name: string;
  role: string;
  provider: string | undefined;
  hasPassword: boolean;
  access: { organization: readonly string[]; projects: Readonly<Record<string, readonly string[]>> };
}

interface ShownSession {
  version: string;
  organization: { id: string; name: string; isDefault: number };
  isAdmin: boolean;
  /** Project in which the session calls models. */
  project: { id: string; name: string } | undefined;
  projects: readonly { id: string; name: string }[];
  user: ShownUser | undefined;
  /** Owners whom a user without a project can ask. */
  contacts: readonly { name: string; email: string }[];
  savesChats: boolean;
  needsOwner: boolean;
  tools: readonly string[];
  signIn: SignInOptions;
}

type ConsoleSessionAnswer = AnswerOf<typeof ConsoleSession>;

export function toSignedOutSession(options: SignInOptions): ConsoleSessionAnswer {
  return { object: "console.session" as const, signed_in: false as const, sign_in: toSignInOptions(options) };
}

function toSignInOptions({ providers, allowsPasswords, hasPasswords, hasKeys }: SignInOptions) {
  return {
    providers: providers.map(toReference),
    password: allowsPasswords,
    has_passwords: hasPasswords,
    key: hasKeys,
  };
}

export function toConsoleSession(session: ShownSession): ConsoleSessionAnswer {
  const { version, organization, isAdmin, project, projects, user, contacts, savesChats, needsOwner, tools, signIn } =
    session;
  return {
    object: "console.session" as const,
    signed_in: true as const,
    version,
    organization: { id: organization.id, name: organization.name, is_default: organization.isDefault === 1 },
    is_admin: isAdmin,
    project: project === undefined ? null : toReference(project),
    projects: projects.map(toReference),
    user: user === undefined ? null : toUser(user),
    sign_in: toSignInOptions(signIn),
    contacts: contacts.map((contact) => ({ name: contact.name, email: contact.email })),
    saves_chats: savesChats,
    needs_owner: needsOwner,
    tools: [...tools],
  };
}

function toReference({ id, name: shown }: { id: string; name: string }) {
  return { id, name: shown };
}

function toUser({ id, email: address, name: shown, role, provider, hasPassword, access }: ShownUser) {
  return {
    id,
    email: address,
    name: shown,
    role,
    provider: provider ?? null,
    has_password: hasPassword,
    access: {
      organization: [...access.organization],
      projects: Object.fromEntries(Object.entries(access.projects).map(([project, each]) => [project, [...each]])),
    },
  };
}

interface ShownInvite {
  email: string;
  expiresAt: number;
  organization: { id: string; name: string };
}

export function toConsoleInvite({
  email: address,
  expiresAt,
  organization,
}: ShownInvite): AnswerOf<typeof ConsoleInvite> {
  return {
    object: "console.invite" as const,
    email: address,
    organization: toReference(organization),
    expires_at: Math.floor(expiresAt / 1000),
  };
}

export function toSignInCode(code: string): AnswerOf<typeof SignInCode> {
  return { object: "console.sign_in_code" as const, code };
}

export function toPasswordLink(token: string, expiresInSeconds: number): AnswerOf<typeof PasswordLink> {
  return { object: "organization.user.password_link" as const, token, expires_in_seconds: expiresInSeconds };
}

export function toSignedOut(endSessionUrl: string | undefined): AnswerOf<typeof SignedOut> {
  return { object: "console.session.deleted" as const, deleted: true, end_session_url: endSessionUrl ?? null };
}
