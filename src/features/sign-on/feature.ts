import type { FastifyRequest } from "fastify";
import type { CountWrongKey } from "../../http/authenticate.ts";
import type { Feature } from "../../http/feature.ts";
import { sessionToken } from "../../http/session-cookie.ts";
import { requireKeyring } from "../../kernel/encryption/require-keyring.ts";
import type { Logger } from "../../kernel/logger.ts";
import { OutgoingGuard } from "../../kernel/outgoing/outgoing-guard.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { Database } from "../../storage/database.ts";
import type { Accounts } from "../accounts/index.ts";
import type { PasswordAttempts } from "../quota/index.ts";
import { removeGroupsOfProviders } from "./group-rules.ts";
import { operatorOfSession } from "./operator-session.ts";
import { passwordLinks } from "./password-link-routes.ts";
import { Passwords } from "./passwords.ts";
import { providerFetch } from "./provider-fetch.ts";
import { SessionRenewal } from "./session-renewal.ts";
import type { SignOn } from "./sign-on.ts";
import { backchannelLogout, signOnPages } from "./sign-on-routes.ts";
import { UserSessions } from "./user-sessions.ts";

interface OpenSignOnParts {
  userSessions: UserSessions;
  config: Settings;
  database: Database;
  accounts: Accounts;
  logger: Logger;
  lifetime: AsyncDisposableStack;
}

/** Opens the sessions of users, whichever way they sign in. */
export function openUserSessions({ signOn }: Pick<Settings, "signOn">, { transactions }: Accounts): UserSessions {
  return new UserSessions(transactions, signOn.sessionHours);
}

/** Opens sign-on with providers, and tokens of trusted issuers. Without either, requests take no other path. */
export async function openSignOn(parts: OpenSignOnParts): Promise<SignOn | undefined> {
  const { config, accounts, userSessions: sessions, logger, lifetime } = parts;
  const { signOn: settings } = config;
  if (settings.providers.length === 0 && settings.tokens.length === 0) return undefined;
  // The operator's identity provider may be on this machine or a private network.
  const guard = new OutgoingGuard({ reach: "private" });
  lifetime.defer(() => guard.close());
  const fetch = providerFetch(guard);
  const { transactions } = accounts;
  if (settings.tokens.length > 0) {
    const { BearerTokens } = await import("./bearer-tokens.ts");
    accounts.trustTokens(new BearerTokens({ issuers: settings.tokens, fetch, transactions }));
  }
  if (settings.providers.length === 0) return undefined;
  for (const { id, issuer } of settings.providers) {
    if (!issuer.startsWith("https:")) logger.warn({ provider: id }, "the provider's issuer is not encrypted (http:)");
  }
  const keyring = requireKeyring({
    secrets: config.environment.PARLANCE_ENCRYPTION_KEY,
    dataDirectory: config.dataDirectory,
    databaseKind: parts.database.kind,
    setting: "sign_on.providers",
    content: "sessions",
  });
  // They load openid-client and jose.
  const [{ Provider }, { SignOn }] = await Promise.all([import("./provider.ts"), import("./sign-on.ts")]);
  const providers = new Map(settings.providers.map((each) => [each.id, new Provider({ settings: each, fetch })]));
  const renewal = new SessionRenewal({
    ...{ transactions, providers, keyring, settings, logger },
    onRenewed: ({ adminHash, projectHash }) => {
      accounts.callers.keys.evict(adminHash);
      accounts.callers.keys.evict(projectHash);
    },
  });
  accounts.callers.renewSessionsBy((keyHash) => renewal.renew(keyHash));
  return new SignOn({ settings, providers, keyring, renewal, transactions, sessions, logger });
}

export function openPasswords(
  { signOn }: Pick<Settings, "signOn">,
  { transactions, invites }: Accounts,
  sessions: UserSessions,
  attempts: PasswordAttempts,
): Passwords {
  return new Passwords({
    transactions,
    sessions,
    attempts,
    invites,
    providers: signOn.providers,
    isAllowed: !signOn.required,
  });
}

interface SignOnFeatureParts {
  config: Settings;
  accounts: Accounts;
  passwords: Passwords;
  signOn: SignOn | undefined;
  logger: Logger;
  countWrongKey: CountWrongKey;
}

export function signOnFeature(parts: SignOnFeatureParts): Feature {
  const { config, accounts, passwords, signOn, logger } = parts;
  const start = () => {
    const applied = signOn?.applyRules() ?? removeGroupsOfProviders(accounts.transactions);
    applied.catch((error: Error) => {
      logger.warn({ error: error.message }, "the rules of sign_on will be applied with the next sign-in or start");
    });
  };
  if (!config.server.console) return { start };
  const admin = [passwordLinks(passwords)];
  if (signOn === undefined) return { admin, start };
  const findOperator = (request: FastifyRequest) => operatorOfSession(accounts, sessionToken(request));
  const routes = { ...parts, signOn, findOperator };
  return {
    admin,
    public: [signOnPages(routes), backchannelLogout(routes)],
    start,
  };
}
