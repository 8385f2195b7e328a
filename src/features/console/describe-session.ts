import type { Caller } from "../../contracts/caller.ts";
import { allows } from "../../http/access.ts";
import type { CountWrongKey } from "../../http/authenticate.ts";
import { VERSION } from "../../kernel/version.ts";
import { toConsoleSession, toSignedOutSession } from "../../wire/openai/console-session.ts";
import { type Accounts, countOwners, findOwners, findUsersByIds, isUnrestricted, mayStore } from "../accounts/index.ts";
import type { Passwords, SignOn, UserSessions } from "../sign-on/index.ts";
import type { ServiceTools } from "../tools/index.ts";

export interface ConsoleSessionParts {
  accounts: Accounts;
  /** Undefined: chats are not saved. */
  chatKeys: object | undefined;
  countWrongKey: CountWrongKey;
  passwords: Passwords;
  /** Undefined: no provider is configured. */
  signOn: SignOn | undefined;
  tools: ServiceTools;
  userSessions: UserSessions;
}

const MAX_CONTACTS = 3;

type Callers = Record<Caller["kind"], Caller | undefined>;

export async function callersOf(accounts: Accounts, token: string | undefined): Promise<Callers> {
  if (token === undefined) return { admin: undefined, project: undefined };
  return {
    admin: await accounts.authenticateSession(token, "admin"),
    project: await accounts.authenticateSession(token, "project"),
  };
}

/** Describes the session of a token: who is signed in, and what the console may show; or how to sign in. */
export async function describeSession(parts: ConsoleSessionParts, token: string | undefined) {
  const { accounts } = parts;
  const { admin, project } = await callersOf(accounts, token);
  const organizationId = (admin ?? project)?.organizationId;
  if (token === undefined || organizationId === undefined) return toSignedOutSession(await signInOptions(parts));
  const organization = await accounts.organizations.retrieve(organizationId);
  const user = admin?.userId === undefined ? undefined : await describeUser(parts, token, admin);
  const isOperator = admin !== undefined && isUnrestricted(admin) && organization.isDefault === 1;
  const owners = isOperator ? await accounts.run((executor) => countOwners(executor, organizationId)) : undefined;
  const maySave = (caller: Caller) => mayStore(accounts.callers.policyOf(caller, "retention"));
  return toConsoleSession({
    version: VERSION,
    organization,
    isAdmin: admin !== undefined && allows(admin.access, "organization.write"),
    project:
      project?.projectId === undefined
        ? undefined
        : await accounts.projects.retrieve({ organizationId, id: project.projectId }),
    projects: user?.projects ?? [],
    user,
    contacts: user !== undefined && project === undefined ? await findContacts(accounts, organizationId) : [],
    savesChats: user !== undefined && parts.chatKeys !== undefined && (project === undefined || maySave(project)),
    needsOwner: owners === 0,
    tools: parts.tools.types,
    signIn: await signInOptions(parts),
  });
}

/** Owners whom a user without a project can ask to be added to one. */
function findContacts(accounts: Accounts, organizationId: string) {
  return accounts.run((executor) => findOwners(executor, organizationId, MAX_CONTACTS));
}

async function signInOptions({ passwords, signOn }: ConsoleSessionParts) {
  return {
    providers: (signOn?.providers ?? []).map(({ id, name }) => ({ id, name })),
    allowsPasswords: passwords.isAllowed,
    hasPasswords: await passwords.areInUse(),
    hasKeys: signOn?.settings.required !== true,
  };
}

async function describeUser(
  { accounts, passwords, signOn, userSessions }: ConsoleSessionParts,
  token: string,
  caller: Caller,
) {
  const session = await userSessions.find(token);
  const [user] = await accounts.run((executor) => findUsersByIds(executor, [caller.userId ?? ""]));
  if (session === undefined || user === undefined) return undefined;
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    role: user.role,
    provider: signOn?.provider(session.providerId ?? "")?.name,
    hasPassword: await passwords.hasPassword(session),
    access: caller.access ?? { organization: [], projects: {} },
    projects: await userSessions.projects(session),
  };
}
