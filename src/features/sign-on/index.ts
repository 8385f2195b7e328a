/** What other features may use. */

export { endLocalAccess, type Providers } from "./local-access.ts";
export { operatorOfSession } from "./operator-session.ts";
export { MIN_PASSWORD_LENGTH, type Passwords } from "./passwords.ts";
export { type ProviderFetch, providerFetch } from "./provider-fetch.ts";
export type { SignOn } from "./sign-on.ts";
export { type FailureReason, SignOnFailure } from "./sign-on-failure.ts";
export { sendContinuation, sendFailure } from "./sign-on-pages.ts";
export { consoleUrl, logFailure } from "./sign-on-routes.ts";
export type { UserSessionRow } from "./sign-on-rows.ts";
export { clearTransactionCookie, setTransactionCookie, transactionCookie } from "./transaction-cookie.ts";
export type { UserSessions } from "./user-sessions.ts";

/** Loads openid-client, too. */
export const loadProviderFailure = () => import("./provider-failure.ts");
