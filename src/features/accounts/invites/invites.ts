/** Invites: an address, the roles that its owner gets, and a token that is used once. */

import { hash, randomBytes } from "node:crypto";
import { DAY_MS } from "../../../kernel/durations.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { newId } from "../../../kernel/id.ts";
import { Secret } from "../../../kernel/secret.ts";
import type { Executor } from "../../../storage/database.ts";
import type { Page, PageRequest } from "../../../storage/page.ts";
import type { LinkMail } from "../../mail/index.ts";
import type { AccountTransaction, AccountTransactions } from "../account-transaction.ts";
import { type Actor, OPERATOR } from "../audit/audit.ts";
import { findOrganization } from "../organizations/organization-queries.ts";
import type { InviteRow, OrganizationRole, UserRow } from "../people-rows.ts";
import { setUserRole } from "../projects/project-members.ts";
import { findProject } from "../projects/project-queries.ts";
import { findActiveProject } from "../projects/projects.ts";
import { builtInRole, ORGANIZATION_ROLE_IDS } from "../roles/built-in-roles.ts";
import { findRoleIn, findRoleOrNone } from "../roles/find-role.ts";
import { type Author, checkMayGrant, mayStillGrant, unrestricted } from "../roles/may-grant.ts";
import { checkEmail } from "../users/email.ts";
import { findUserByEmail, toEmailKey } from "../users/user-queries.ts";
import { addUser } from "../users/users.ts";
import { inviteMail } from "./invite-mail.ts";
import {
  deleteInvite,
  findInvite,
  findInviteByTokenHash,
  findPendingInvite,
  type InviteReference,
  insertInvite,
  listInvites,
  markInviteAccepted,
} from "./invite-queries.ts";

const DEFAULT_LIFETIME_MS = 7 * DAY_MS;
const TOKEN_BYTES = 32;
const MAX_TOKEN_LENGTH = 128;
const MAX_PROJECTS = 100;

interface InvitedProject {
  id: string;
  roleId: string;
}

export type Invite = Omit<InviteRow, "tokenHash" | "projects"> & { projects: readonly InvitedProject[] };

export interface NewInvite {
  organizationId: string;
  email: string;
  role: OrganizationRole;
  /** Roles in projects, by ID or name. */
  projects: readonly { id: string; role: string }[];
  /** Undefined: seven days. */
  expiresInSeconds: number | undefined;
}

export class Invites {
  readonly #transactions: AccountTransactions;
  readonly #mail: LinkMail | undefined;

  /** `mail` undefined: invites are not sent. */
  constructor(transactions: AccountTransactions, mail: LinkMail | undefined) {
    this.#transactions = transactions;
    this.#mail = mail;
  }

  /**
   * Creates an invite, whose token is shown once and sent by e-mail if that is configured. Throws a Fault for the
   * address of a user or of a pending invite, and for a role with more than the author has.
   */
  async create(author: Author, wanted: NewInvite): Promise<{ invite: Invite; token: Secret }> {
    const email = checkEmail(wanted.email);
    const token = new Secret(`inv-${randomBytes(TOKEN_BYTES).toString("base64url")}`);
    if (wanted.projects.length > MAX_PROJECTS) {
      const message = `'projects' has ${wanted.projects.length} entries; the maximum is ${MAX_PROJECTS}.`;
      throw invalidRequest(message, "projects", "invalid_value");
    }
    return this.#transactions.run(author, async (transaction) => {
      const { executor, now, audit } = transaction;
      const { organizationId, role } = wanted;
      if ((await findUserByEmail(executor, organizationId, email)) !== undefined) {
        throw new Fault("conflict", `The organization has a user with the address ${email} already.`, {
          code: "user_exists",
        });
      }
      if ((await findPendingInvite(executor, organizationId, email, now)) !== undefined) {
        throw new Fault("conflict", `An invite for ${email} is pending. Delete it first.`, { code: "invite_exists" });
      }
      checkMayGrant(author, builtInRole(ORGANIZATION_ROLE_IDS[role])?.permissions ?? [], undefined);
      const projects = await resolveProjects(transaction, author, wanted);
      const row: InviteRow = {
        id: newId("invite_"),
        organizationId,
        email,
        role,
        projects: JSON.stringify(projects),
        tokenHash: hashInviteToken(token.reveal()),
        invitedBy: author.userId ?? null,
        invitedByKey: author.keyId ?? null,
        createdAt: now,
        expiresAt: now + (wanted.expiresInSeconds === undefined ? DEFAULT_LIFETIME_MS : wanted.expiresInSeconds * 1000),
        acceptedAt: null,
        userId: null,
      };
      await insertInvite(executor, row);
      if (this.#mail !== undefined) {
        const organization = await findOrganization(executor, organizationId);
        const { publicUrl, outbox } = this.#mail;
        const mail = inviteMail({ ...row, organization: organization?.name ?? "" }, token, publicUrl);
        await outbox.add(executor, mail, now);
      }
      await audit({ type: "invite.sent", organizationId, resourceId: row.id, details: { email, role } });
      return { invite: toInvite(row), token };
    });
  }

  async list(organizationId: string, request: PageRequest): Promise<Page<Invite>> {
    const page = await this.#transactions.database.run((executor) => listInvites(executor, organizationId, request));
    return { ...page, entries: page.entries.map(toInvite) };
  }

  /** Throws a Fault when the invite does not exist. */
  async retrieve(reference: InviteReference): Promise<Invite> {
    return this.#transactions.database.run(async (executor) => {
      const row = await findInvite(executor, reference);
      if (row === undefined) throw noSuchInvite(reference.id);
      return toInvite(row);
    });
  }

  /** Ends an invite. Throws a Fault when it does not exist or was accepted. */
  async delete(author: Author, reference: InviteReference): Promise<void> {
    await this.#transactions.run(author, async ({ executor, audit }) => {
      const row = await findInvite(executor, reference);
      if (row === undefined) throw noSuchInvite(reference.id);
      if (row.acceptedAt !== null) throw invalidRequest("The invite was accepted. Remove the user instead.");
      await deleteInvite(executor, row.id);
      await audit({
        type: "invite.deleted",
        organizationId: row.organizationId,
        resourceId: row.id,
        details: {},
      });
    });
  }

  /** Accepts an invite, as `acceptInvite` does. */
  async accept(actor: Actor, accepted: Parameters<typeof acceptInvite>[1]): Promise<UserRow> {
    return this.#transactions.run(actor, (transaction) => acceptInvite(transaction, accepted));
  }

  /** Returns the invite of a token that can be accepted. Throws a Fault for a wrong, used or expired one. */
  async check(token: string): Promise<Invite> {
    return this.#transactions.database.run(async (executor) =>
      toInvite(checkPending(await findInviteByTokenHash(executor, hashInviteToken(token)), Date.now())),
    );
  }
}

/**
 * Accepts the invite of a token for an address: adds the user with the roles of the invite. Throws a Fault for a token
 * that is wrong, used or expired, and for another address than the invited one.
 */
export async function acceptInvite(
  transaction: AccountTransaction,
  { token, email, name }: { token: string; email: string; name: string | undefined },
): Promise<UserRow> {
  const row = await findInviteByTokenHash(transaction.executor, hashInviteToken(token));
  const invite = checkPending(row, transaction.now);
  if (invite.email !== toEmailKey(email)) {
    const message = "This invite is for another address. Sign in with the address that was invited.";
    throw new Fault("forbidden", message, { code: "invite_address_mismatch" });
  }
  return accept(transaction, invite, name);
}

/** Accepts the pending invite of an address that a provider verified; undefined when there is none. */
export async function acceptInviteOf(
  transaction: AccountTransaction,
  { organizationId, email, name }: { organizationId: string; email: string; name: string | undefined },
): Promise<UserRow | undefined> {
  const { executor, now } = transaction;
  const row = await findPendingInvite(executor, organizationId, toEmailKey(email), now);
  if (row === undefined || !(await isAuthorized(executor, row, now))) return undefined;
  return accept(transaction, row, name);
}

async function accept(transaction: AccountTransaction, row: InviteRow, name: string | undefined): Promise<UserRow> {
  const { executor, now, audit } = transaction;
  const { organizationId, email, role } = row;
  if (!(await isAuthorized(executor, row, now))) {
    const message = "Whoever sent this invite may no longer give what it gives. Ask for another one.";
    throw invalidInvite(message, "invite_ended");
  }
  const user = await addUser(transaction, { organizationId, email, name, role });
  for (const { id, roleId } of readProjects(row)) {
    const project = await findProject(executor, { organizationId, id });
    if (project === undefined || project.archivedAt !== null) continue;
    // A custom role may have been deleted since: the person joins without it.
    if ((await findRoleOrNone(executor, { organizationId, projectId: id }, roleId)) === undefined) continue;
    await setUserRole(transaction, unrestricted(OPERATOR), project, user, roleId);
  }
  await markInviteAccepted(executor, row.id, { acceptedAt: now, userId: user.id });
  await audit({ type: "invite.accepted", organizationId, resourceId: row.id, details: { userId: user.id } });
  return user;
}

/** Whether the author still exists and may give what the invite gives. */
async function isAuthorized(executor: Executor, row: InviteRow, now: number): Promise<boolean> {
  const { invitedBy, invitedByKey, organizationId: id, role } = row;
  const earlier = { userId: invitedBy, keyId: invitedByKey ?? null, now };
  return mayStillGrant(executor, id, earlier, async (author) => {
    checkMayGrant(author, builtInRole(ORGANIZATION_ROLE_IDS[role])?.permissions ?? [], undefined);
    for (const { id: projectId, roleId } of readProjects(row)) {
      const roleInProject = await findRoleOrNone(executor, { organizationId: id, projectId }, roleId);
      checkMayGrant(author, roleInProject?.permissions ?? [], projectId);
    }
  });
}

function checkPending(row: InviteRow | undefined, now: number): InviteRow {
  if (row === undefined) throw invalidInvite("This invite does not exist or was withdrawn.", "invite_not_found");
  if (row.acceptedAt !== null) throw invalidInvite("This invite was used already. Sign in.", "invite_used");
  if (row.expiresAt <= now) throw invalidInvite("This invite has expired. Ask for another one.", "invite_expired");
  return row;
}

function invalidInvite(message: string, code: string): Fault {
  return new Fault("forbidden", message, { code });
}

async function resolveProjects(
  { executor }: AccountTransaction,
  author: Author,
  { organizationId, projects }: NewInvite,
): Promise<InvitedProject[]> {
  const resolved = new Map<string, InvitedProject>();
  for (const { id, role: idOrName } of projects) {
    await findActiveProject(executor, { organizationId, id });
    const role = await findRoleIn(executor, { organizationId, projectId: id }, idOrName);
    checkMayGrant(author, role.permissions, id);
    resolved.set(id, { id, roleId: role.id });
  }
  return [...resolved.values()];
}

function readProjects({ projects }: InviteRow): InvitedProject[] {
  return JSON.parse(projects);
}

function toInvite({ tokenHash: _hash, ...row }: InviteRow): Invite {
  return { ...row, projects: JSON.parse(row.projects) };
}

/** SHA-256 in hexadecimal, of no more than a token's length. */
function hashInviteToken(token: string): string {
  return hash("sha256", `invite\0${token.slice(0, MAX_TOKEN_LENGTH)}`);
}

function noSuchInvite(id: string): Fault {
  return new Fault("not-found", `There is no invite \`${id.slice(0, 100)}\`.`);
}
