/** Section `sign_on`. */

import { z } from "zod";
import { Secret } from "../../kernel/secret.ts";
import { mapping } from "../../kernel/settings/mapping.ts";

/** Times of tokens are compared with this tolerance, because clocks differ. */
const MAX_TOLERANCE_SECONDS = 900;
const name = z.string().trim().min(1).max(200);
const address = z
  .url({ protocol: /^https?$/, error: "must be an http or https URL" })
  .max(2000)
  .refine((url) => URL.parse(url)?.username === "", { error: "must not contain a user name or a password" });

const issuer = address.refine((url) => !url.includes("?") && !url.includes("#"), {
  error: "must have neither a query nor a fragment",
});

const claim = z.string().regex(/^[^.\s]{1,200}(\.[^.\s]{1,200}){0,4}$/, {
  error: "must be the name of a claim, such as groups or realm.roles",
});

const rule = mapping(() => ({
  group: name.describe(
    "Group, as the provider's claim names it; `*` matches everybody who signs in with the provider.",
  ),
  role: name.optional().describe("Role in the organization, such as owner, reader or member, or a role of your own."),
  project: name
    .optional()
    .describe("ID of a project that the group's members join, or its name, which is resolved once, if it is unique."),
  project_role: name
    .optional()
    .describe("Role in that project, such as owner, member or viewer, or a role of your own. Default: member."),
})).refine(
  ({ role, project, projectRole }) =>
    (role ?? project) !== undefined && (projectRole === undefined || project !== undefined),
  {
    error: "must have `role` or `project`; `project_role` needs `project`",
  },
);

const PROVIDER_ID = /^[a-z0-9][a-z0-9-]{0,38}$/;

const provider = mapping(() => ({
  id: z
    .string()
    .regex(PROVIDER_ID, { error: "must be 1 to 39 lowercase letters, digits and hyphens" })
    .describe("Identifies the provider in its addresses here, such as `/sign-on/ID/callback`."),
  name: name.optional().describe("Name on the button of the sign-in page. Default: the ID."),
  issuer: issuer.describe(
    "Issuer, whose `/.well-known/openid-configuration` is read. Plain http is for tests and trusted networks.",
  ),
  client_id: z.string().min(1).max(500).describe("Client ID that the provider gave Parlance."),
  client_secret: z
    .string()
    .min(1)
    .max(4096)
    .transform((secret) => new Secret(secret))
    .optional()
    .describe("Client secret. Pass it as an environment variable. Default: a public client, protected by PKCE alone."),
  client_authentication: z
    .enum(["client_secret_basic", "client_secret_post"])
    .default("client_secret_basic")
    .describe("How the client secret is sent."),
  scopes: z
    .array(z.string().regex(/^[!#-[\]-~]{1,200}$/, { error: "must be a scope, without spaces" }))
    .min(1)
    .max(50)
    .refine((scopes) => scopes.includes("openid"), { error: "must contain openid" })
    .default(["openid", "profile", "email"])
    .describe("Scopes to request. Entra ID and Okta give a refresh token only for `offline_access`."),
  authorization_parameters: z
    .record(z.string().min(1).max(100), z.string().max(1000))
    .default({})
    .describe("Further parameters of the sign-in address, such as `access_type: offline` for Google."),
  groups_claim: claim.default("groups").describe("Claim with the groups: a text or a list. Dots descend into objects."),
  email_claim: claim.default("email").describe("Claim with the e-mail address."),
  name_claim: claim.default("name").describe("Claim with the person's name."),
  trust_email: z
    .boolean()
    .default(false)
    .describe(
      "Whether an address counts as verified without `email_verified`, which Entra ID does not send. Set it only if people cannot choose their address at the provider.",
    ),
  email_domains: z
    .array(z.string().regex(/^[a-z0-9.-]{1,253}$/, { error: "must be a domain in lowercase, such as example.com" }))
    .max(1000)
    .default([])
    .describe("Domains of the addresses that may sign in. Default: all."),
  create_users: z
    .boolean()
    .default(true)
    .describe("Whether a first sign-in creates the user. Otherwise only invited and existing users sign in."),
  rules: z
    .array(rule)
    .max(1000)
    .default([])
    .describe("Roles and projects by group, applied at each sign-in and renewal."),
  end_session: z
    .boolean()
    .default(true)
    .describe("Whether signing out of the console also signs out at the provider, if it supports that."),
  clock_tolerance_seconds: z
    .int()
    .min(0)
    .max(MAX_TOLERANCE_SECONDS)
    .default(300)
    .describe("Difference between the provider's clock and this one that ID tokens and logout tokens may have."),
}));

const serviceAccountRule = mapping(() => ({
  subject: z.string().min(1).max(500).describe("Value of the subject claim."),
  project: name.describe("ID of the project, or its name, which is resolved once, if it is unique."),
  service_account: name.describe(
    "ID of the project's service account, or its name, which is resolved once, if it is unique.",
  ),
}));

const tokenIssuer = mapping(() => ({
  issuer: issuer.describe("Issuer, exactly as in the claim `iss`."),
  audiences: z
    .array(z.string().min(1).max(500))
    .min(1)
    .max(20)
    .describe("Audiences of which the claim `aud` must have one, such as the name of this service at the issuer."),
  jwks_url: address
    .optional()
    .describe("Address of the public keys. Default: as the issuer's discovery document says."),
  scopes: z
    .array(z.string().min(1).max(200))
    .max(50)
    .default([])
    .describe("Scopes that the claim `scope` or `scp` must all have."),
  clock_tolerance_seconds: z
    .int()
    .min(0)
    .max(MAX_TOLERANCE_SECONDS)
    .default(60)
    .describe("Difference between the issuer's clock and this one that tokens may have."),
  subject_claim: claim.default("sub").describe("Claim that identifies the user or program, such as `sub` or `azp`."),
  project: name
    .optional()
    .describe("ID or name of the project in which users call models. Default: their own one, if they have only one."),
  project_claim: claim.optional().describe("Claim that names the project, in place of `project`."),
  service_accounts: z
    .array(serviceAccountRule)
    .max(1000)
    .default([])
    .describe("Programs: subjects whose tokens call models as a service account. Other subjects are users."),
}));

const isUnique = (values: readonly string[]) => new Set(values).size === values.length;

/** Section `sign_on`. */
export const signOnSettings = mapping(
  () => ({
    public_url: address
      .refine((url) => !url.includes("?") && !url.includes("#"), { error: "must have neither a query nor a fragment" })
      .transform((url) => url.replace(/\/+$/, ""))
      .optional()
      .describe(
        "Address of the console in browsers, such as https://parlance.example.com. Default: the one of each request, which is right unless a proxy changes the path.",
      ),
    required: z
      .boolean()
      .default(false)
      .describe(
        "Whether people sign in to the console with a provider only: it refuses passwords and keys. The link that `parlance console` prints still signs in.",
      ),
    session_hours: z
      .number()
      .min(0.1)
      .max(24 * 30)
      .default(12)
      .describe("Hours after which people sign in again, however active they are."),
    renew_after_seconds: z
      .number()
      .min(1)
      .max(3600)
      .default(45)
      .describe(
        "Seconds after which a session in use is checked with its provider again. Within that time, and at most 15 s more, it ends when a group is taken away or the user is disabled there.",
      ),
    outage_grace_seconds: z
      .number()
      .min(0)
      .max(86_400)
      .default(900)
      .describe(
        "Seconds for which sessions continue while their provider cannot be reached; after that, they pause until it can. API keys are not affected.",
      ),
    providers: z
      .array(provider)
      .max(20)
      .refine((providers) => isUnique(providers.map(({ id }) => id)), { error: "must not have an ID twice" })
      .refine((providers) => isUnique(providers.map(({ issuer, clientId }) => `${issuer} ${clientId}`)), {
        error: "must not have the same client of an issuer twice",
      })
      .default([])
      .describe("OpenID Connect providers, in the order of the sign-in page."),
    tokens: z
      .array(tokenIssuer)
      .max(20)
      .refine((issuers) => isUnique(issuers.map(({ issuer }) => issuer)), { error: "must not have an issuer twice" })
      .default([])
      .describe("Issuers whose JSON Web Tokens are accepted as Bearer credentials in place of API keys."),
  }),
  "How people sign in to the console, and whose tokens the API accepts.",
).refine(({ required, providers }) => !required || providers.length > 0, {
  error: "`required` needs at least one provider",
});

export type SignOnSettings = z.output<typeof signOnSettings>;
export type ProviderSettings = SignOnSettings["providers"][number];
export type GroupRule = ProviderSettings["rules"][number];
export type TokenIssuerSettings = SignOnSettings["tokens"][number];

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    signOn: z.output<typeof signOnSettings>;
  }
}
