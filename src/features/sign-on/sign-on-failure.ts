/** Failures of sign-on, each with what the person sees: what happened, and what to do. */

export type FailureReason = keyof typeof FAILURES;

interface FailurePage {
  status: number;
  title: string;
  /** What the person can do. */
  remedy: string;
}

const TRY_AGAIN = "Sign in again. If it happens again, tell your administrator the request ID below.";
const ASK_ADMINISTRATOR =
  "Tell your administrator, who finds the details in the service's log under the request ID below.";

const FAILURES = {
  expired: {
    status: 400,
    title: "This sign-in is no longer open",
    remedy:
      "It was completed already, took more than ten minutes, or began in another browser. Sign in again, in one window and with cookies allowed.",
  },
  denied: { status: 403, title: "The provider did not sign you in", remedy: TRY_AGAIN },
  "code-refused": {
    status: 400,
    title: "The provider refused this sign-in",
    remedy: "Its code was used already or has expired. Sign in again.",
  },
  "provider-unavailable": {
    status: 503,
    title: "The provider cannot be reached",
    remedy:
      "Try again in some minutes. API keys go on working. An administrator can sign in with the link that `parlance console` prints.",
  },
  "provider-error": { status: 502, title: "The provider answered with an error", remedy: ASK_ADMINISTRATOR },
  "client-refused": {
    status: 502,
    title: "The provider does not accept this service",
    remedy: "Your administrator has to correct `client_id`, `client_secret` or the redirect address of this provider.",
  },
  "wrong-issuer": {
    status: 400,
    title: "The answer came from another provider",
    remedy:
      "Nobody was signed in, because answers of two providers were mixed up. Sign in again, and tell your administrator.",
  },
  "wrong-audience": {
    status: 400,
    title: "The provider's answer is meant for another service",
    remedy: `Nobody was signed in. ${ASK_ADMINISTRATOR}`,
  },
  "bad-signature": {
    status: 400,
    title: "The provider's answer is not signed with its keys",
    remedy: `Nobody was signed in. ${ASK_ADMINISTRATOR}`,
  },
  clock: {
    status: 400,
    title: "The clocks of the provider and this service differ too much",
    remedy: "Your administrator has to set both clocks, or raise `clock_tolerance_seconds` of this provider.",
  },
  "bad-token": { status: 400, title: "The provider's answer cannot be used", remedy: ASK_ADMINISTRATOR },
  "no-email": {
    status: 403,
    title: "The provider did not send your e-mail address",
    remedy: "Your administrator has to request the scope `email`, or set `email_claim` of this provider.",
  },
  "email-unverified": {
    status: 403,
    title: "Your e-mail address is not verified at the provider",
    remedy:
      "Verify it there, then sign in again. If the provider never says so, your administrator can set `trust_email`.",
  },
  "email-domain": {
    status: 403,
    title: "Addresses of this domain may not sign in",
    remedy: "Sign in with your address at work, or ask your administrator to add the domain to `email_domains`.",
  },
  "not-invited": {
    status: 403,
    title: "You have no account here yet",
    remedy: "Ask your administrator for an invite to the address that the provider knows.",
  },
  invite: {
    status: 403,
    title: "This invite cannot be accepted",
    remedy: "Ask the person who invited you for another invite, to the address that the provider knows.",
  },
  "no-access": {
    status: 403,
    title: "You have no access yet",
    remedy: "Ask your administrator to add you to a project, or to a group at the provider that has access here.",
  },
  disabled: {
    status: 403,
    title: "Your account is disabled",
    remedy: "Ask your administrator to enable it again.",
  },
  "identity-taken": {
    status: 403,
    title: "Your account belongs to another identity at this provider",
    remedy:
      "Your administrator has to remove the earlier identity from your account, or correct the address at the provider.",
  },
} as const satisfies Record<string, FailurePage>;

/** Failed sign-on. The message says what happened; it is shown to the person and contains no secret. */
export class SignOnFailure extends Error {
  override readonly name = "SignOnFailure";
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }

  get page(): FailurePage {
    return FAILURES[this.reason];
  }
}
