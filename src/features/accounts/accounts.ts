import type { LinkMail } from "../mail/index.ts";
import type { AccountExtensions } from "./extensions.ts";
/** Authenticates callers and manages organizations, projects and API keys. */

import type { Caller, Priority } from "../../contracts/caller.ts";
import type { ScopeHeaders } from "../../http/authenticate.ts";
import { Fault, unavailable } from "../../kernel/faults.ts";
import { growingCache } from "../../kernel/growing-cache.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Database, Executor } from "../../storage/database.ts";
import { AccountTransactions } from "./account-transaction.ts";
import { AuditTrail } from "./audit/audit-trail.ts";
import { Callers, type KeyClient, MAX_KEY_LENGTH } from "./callers.ts";
import { Groups } from "./groups/groups.ts";
import { Invites } from "./invites/invites.ts";
import { hashApiKey, redactApiKey } from "./keys/api-key.ts";
import { type ApiKeyScope, findKeyHash } from "./keys/api-key-queries.ts";
import { ApiKeys } from "./keys/api-keys.ts";
import { type BootstrapKeys, ensureBootstrapKeys, type FixedKeys } from "./keys/bootstrap-keys.ts";
import { type KeySource, keysIn, loadBilledKeys } from "./keys/cached-key.ts";
import type { UserKeyPolicy } from "./keys/key-rules.ts";
import { LastUsedWriter } from "./keys/last-used-writer.ts";
import { OperatorKeys } from "./keys/operator-keys.ts";
import { isPlaceholder, WAY_TO_A_KEY } from "./keys/placeholder-key.ts";
import { findDefaultOrganization } from "./organizations/organization-queries.ts";
import { Organizations } from "./organizations/organizations.ts";
import { ModelPermissionService } from "./projects/model-permission-service.ts";
import { ProjectMembers } from "./projects/project-members.ts";
import { findDefaultProject } from "./projects/project-queries.ts";
import { Projects } from "./projects/projects.ts";
import { RoleAssignments } from "./roles/assignments.ts";
import { Roles } from "./roles/roles.ts";
import { applyScopeHeaders } from "./scope-headers.ts";
import { ServiceAccounts } from "./service-accounts/service-accounts.ts";
import { ConsoleSessions, hashSessionToken, isTokenLength } from "./sessions/console-sessions.ts";
import { Users } from "./users/users.ts";

export type { BootstrapKeys, FixedKeys } from "./keys/bootstrap-keys.ts";

const MAX_KEY_HASHES = 1_000;
const DEFAULT_LAST_USED_EVERY_SECONDS = 10;

export interface AccountsOptions {
  database: Database;
  logger: Logger;
  extensions: AccountExtensions;
  /** Sends invites; undefined: nobody does. */
  mail?: LinkMail | undefined;
  /** How long cached keys keep working while the database is unavailable. */
  databaseGraceSeconds?: number | undefined;
  /** Called after every change that this process made; the change waits for it. */
  onChanged?: (() => Promise<void>) | undefined;
  /** Counts what people change of their own (`Actor.countedAs`). Throws a Fault after too much. Undefined: nobody does. */
  countSelfService?: ((name: string) => Promise<void>) | undefined;
  /** Bounds of the keys that users create for themselves; undefined: none. */
  userKeys?: UserKeyPolicy | undefined;
  /** Interval at which the times of last use are written. */
  lastUsedEverySeconds?: number | undefined;
}

/** Trusted issuers of tokens. */
interface TokenIssuers {
  /** Returns the hash of the key that a token stands for; undefined for a key that is not a token. Throws a Fault. */
  findKeyHash(key: string, kind: Caller["kind"]): Promise<string | undefined>;
  /** When a token of theirs ends, in epoch milliseconds; undefined for a key that is not one. */
  endOf(key: string): number | undefined;
}

export class Accounts {
  readonly organizations: Organizations;
  readonly projects: Projects;
  readonly serviceAccounts: ServiceAccounts;
  readonly apiKeys: ApiKeys;
  readonly operatorKeys: OperatorKeys;
  readonly modelPermissions: ModelPermissionService;
  readonly users: Users;
  readonly invites: Invites;
  readonly groups: Groups;
  readonly roles: Roles;
  readonly roleAssignments: RoleAssignments;
  readonly projectMembers: ProjectMembers;
  readonly auditTrail: AuditTrail;
  readonly consoleSessions: ConsoleSessions;
  readonly #database: Database;
  readonly transactions: AccountTransactions;
  readonly callers: Callers;
  readonly keySource: KeySource;
  readonly lastUsed: LastUsedWriter;
  #tokens: TokenIssuers | undefined;
  #areBootstrapKeysMissing = false;
  #anonymousKeyHash: string | undefined;
  /** Hashes of the keys of batches, whose lines ask for them one by one. A key's hash never changes. */
  readonly #keyHashes = growingCache<string>(MAX_KEY_HASHES);

  constructor(options: AccountsOptions) {
    const { database, logger, extensions } = options;
    this.#database = database;
    const lastUsedSeconds = options.lastUsedEverySeconds ?? DEFAULT_LAST_USED_EVERY_SECONDS;
    this.lastUsed = new LastUsedWriter(database, logger, lastUsedSeconds);
    this.keySource = keysIn(database, extensions);
    this.callers = new Callers({
      source: this.keySource,
      policies: extensions.policies,
      logger,
      graceSeconds: options.databaseGraceSeconds,
      noteUse: (keyId, use) => this.lastUsed.note(keyId, use),
    });
    const onCommit = async () => {
      await Promise.all([this.callers.keys.reload(), options.onChanged?.()]);
    };
    this.transactions = new AccountTransactions(database, extensions, onCommit, options.countSelfService);
    this.organizations = new Organizations(this.transactions);
    this.projects = new Projects(this.transactions);
    this.serviceAccounts = new ServiceAccounts(this.transactions);
    this.apiKeys = new ApiKeys(this.transactions, options.userKeys);
    this.operatorKeys = new OperatorKeys(this.transactions);
    this.users = new Users(this.transactions);
    this.invites = new Invites(this.transactions, options.mail);
    this.groups = new Groups(this.transactions);
    this.roles = new Roles(this.transactions);
    this.roleAssignments = new RoleAssignments(this.transactions);
    this.projectMembers = new ProjectMembers(this.transactions);
    this.modelPermissions = new ModelPermissionService(this.transactions);
    this.auditTrail = new AuditTrail(database);
    this.consoleSessions = new ConsoleSessions(this.transactions);
  }

  /** Takes the tokens of these issuers for keys, from now on. */
  trustTokens(issuers: TokenIssuers): void {
    this.#tokens = issuers;
  }

  /**
   * `kind`: of the routes, for tokens, which do not say it themselves. Throws a Fault when `key`, as the client sent it,
   * does not work or cannot be checked now.
   */
  async authenticate(key: string | undefined, kind: Caller["kind"] = "project"): Promise<Caller> {
    if (key === undefined || key === "") {
      const message = "No API key was sent. Send it in the header `Authorization: Bearer YOUR_KEY`.";
      throw new Fault("unauthenticated", message);
    }
    const tokenHash = await this.#tokens?.findKeyHash(key, kind);
    if (tokenHash !== undefined) return this.#authenticateToken(tokenHash);
    if (key.length > MAX_KEY_LENGTH) throw incorrectKey(key);
    const caller = await this.callers.find(hashApiKey(key));
    if (caller !== undefined) return caller;
    // It may be a bootstrap key that is being created: answer 503, not 401.
    if (this.#areBootstrapKeysMissing) throw starting();
    throw incorrectKey(key);
  }

  async #authenticateToken(keyHash: string): Promise<Caller> {
    const caller = await this.callers.find(keyHash);
    if (caller !== undefined) return caller;
    const message = "The user or service account of this token is disabled or has no access.";
    throw new Fault("unauthenticated", message, { code: "invalid_api_key" });
  }

  /** Records from where a caller's key is used, for its list. */
  noteClient(caller: Caller, client: KeyClient): void {
    this.callers.noteClient(caller, client);
  }

  /** Authenticates without a query; returns undefined unless the key works and its cache entry is fresh. */
  authenticateKnown(key: string | undefined): Caller | undefined {
    return this.callers.findKnown(key);
  }

  /** Returns the caller as it is now, which is no use of its key; undefined once its key or session has ended. */
  currentCaller(caller: Caller): Promise<Caller | undefined> {
    return this.callers.current(caller);
  }

  /** When a key ends by itself, as a token says, in epoch milliseconds; undefined for others. */
  endOf(key: string | undefined): number | undefined {
    return key === undefined ? undefined : this.#tokens?.endOf(key);
  }

  /**
   * Returns the caller that a console session's token stands for on routes of this kind; undefined for a session that
   * has ended or holds no such key. Throws a Fault when the database is unavailable.
   */
  async authenticateSession(token: string, kind: Caller["kind"]): Promise<Caller | undefined> {
    if (!isTokenLength(token)) return undefined;
    return this.callers.findSession(hashSessionToken(kind, token));
  }

  /** Returns the caller of requests without a key. Throws a Fault unless the operator configured a project for them. */
  async authenticateAnonymous(): Promise<Caller> {
    const keyHash = this.#anonymousKeyHash;
    const caller = keyHash === undefined ? undefined : await this.callers.find(keyHash);
    return caller ?? this.authenticate(undefined);
  }

  /** Returns a caller with the key of this ID and a priority; undefined when the key no longer works. */
  async callerOfKey(keyId: string, priority: Priority): Promise<Caller | undefined> {
    const keyHash =
      this.#keyHashes.get(keyId) ?? (await this.#database.run((executor) => findKeyHash(executor, keyId)));
    if (keyHash !== undefined) this.#keyHashes.set(keyId, keyHash);
    const caller = keyHash === undefined ? undefined : await this.callers.find(keyHash);
    // The hash of a person's key of sessions may be that of a newer one.
    return caller?.keyId === keyId ? this.callers.withPriority(caller, priority) : undefined;
  }

  /** Returns callers by the IDs of their keys for what these cost, and nothing else: the keys may have ended. */
  async callersToBill(keyIds: readonly string[]): Promise<ReadonlyMap<string, Caller>> {
    const records = await loadBilledKeys(this.#database, this.transactions.extensions, keyIds);
    return new Map(records.map((record) => [record.caller.keyId, this.callers.toBill(record)]));
  }

  /** Throws a Fault when the client's headers name another organization or project than the key's. */
  async applyScopeHeaders(caller: Caller, headers: ScopeHeaders): Promise<Caller> {
    const acting = await applyScopeHeaders(this.#database, caller, headers);
    if (acting !== caller) this.callers.addOperator(acting, caller);
    return acting;
  }

  /** Returns the operator as the caller of a command, in the default organization if it exists. */
  async operator(): Promise<Caller> {
    const organization = await this.#database.run(findDefaultOrganization);
    const caller = { keyId: "operator", projectId: undefined, kind: "admin", isOperator: true } as const;
    return { ...caller, organizationId: organization?.id ?? "" };
  }

  /** Runs queries of accounts. Throws a Fault `database_unavailable`. */
  async run<Result>(work: (executor: Executor) => Promise<Result>): Promise<Result> {
    return this.#database.run(work);
  }

  /** Creates the default organization, project and keys at first start; applies the operator's fixed keys at every start. */
  async ensureBootstrapKeys(fixed: FixedKeys): Promise<BootstrapKeys> {
    this.#areBootstrapKeysMissing = true;
    try {
      const keys = await ensureBootstrapKeys(this.transactions, fixed);
      this.#areBootstrapKeysMissing = false;
      this.#anonymousKeyHash = keys.anonymousKeyHash;
      this.callers.keys.databaseRecovered();
      return keys;
    } catch (error) {
      if (error instanceof Fault && error.kind === "unavailable") this.callers.keys.databaseFailed(error);
      throw error;
    }
  }

  /** Throws a Fault while the database does not answer or the bootstrap keys are missing. */
  async check(): Promise<void> {
    try {
      await this.#database.check();
    } catch (error) {
      this.callers.keys.databaseFailed(error);
      throw error;
    }
    if (this.#areBootstrapKeysMissing) throw starting();
  }

  /** The scope of operator commands that name no organization or project. */
  async defaultScope(kind: ApiKeyScope["kind"]): Promise<ApiKeyScope> {
    return this.#database.run(async (executor) => {
      const organization = await findDefaultOrganization(executor);
      const project = organization && (await findDefaultProject(executor, organization.id));
      if (organization === undefined || project === undefined) {
        throw new Fault("not-found", "No organization exists yet. Start the service once to create the default one.");
      }
      if (kind === "admin") return { organizationId: organization.id, kind };
      return { organizationId: organization.id, projectId: project.id, kind };
    });
  }

  /** Flushes pending writes. Does not close the database. */
  async close(): Promise<void> {
    await this.lastUsed.close();
  }
}

function starting(): Fault {
  return unavailable("The service is starting. Try again in a moment.", "database_unavailable", 1);
}

function incorrectKey(key: string): Fault {
  const hint = isPlaceholder(key) ? ` It is a placeholder: ${WAY_TO_A_KEY}` : "";
  const message = `Incorrect API key provided: ${redactApiKey(key.slice(0, MAX_KEY_LENGTH))}.${hint}`;
  return new Fault("unauthenticated", message, { code: "invalid_api_key" });
}
