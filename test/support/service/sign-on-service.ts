/** A service that signs people in with a provider in the test's process. */

import {
  CLIENT_ID,
  CLIENT_SECRET,
  IdentityProvider,
  type IdentityProviderOptions,
} from "../upstreams/identity-provider.ts";
import { BrowserJar, type Visit } from "./browser-jar.ts";
import { type InProcessService, type ServiceOptions, startService } from "./service.ts";

export interface SignOnServiceOptions extends IdentityProviderOptions {
  /** Further lines of the section `sign_on`, indented by two spaces; `PROVIDER` is the provider's issuer. */
  signOn?: string;
  /** Further lines of the provider's entry, indented by six spaces. */
  provider?: string;
  /** Further lines of the list `models`, indented by two spaces. */
  models?: string;
  /** Further lines of the file. */
  config?: string;
  environment?: ServiceOptions["environment"];
}

/** Groups that the rules of the test's configuration name. */
export const RULES = `
      rules:
        - { group: admins, role: owner }
        - { group: staff, role: member }
        - { group: research, project: Default project, project_role: member }
        - { group: auditors, project: Default project, project_role: viewer }`;

export function signOnConfig(
  issuer: string,
  { signOn = "", provider = RULES, models = "", config = "" }: SignOnServiceOptions = {},
) {
  return `builtin_models: false
limits: { failed_authentications_per_minute: 1000 }
models:
  - { id: echo, task: chat, deployments: [{ engine: scripted, echo: true }] }
${models}
sign_on:
${signOn.replaceAll("PROVIDER", issuer)}
  providers:
    - id: idp
      name: Test provider
      issuer: ${issuer}
      client_id: ${CLIENT_ID}
      client_secret: ${CLIENT_SECRET}
${provider}
${config}`;
}

export interface SignOnService extends AsyncDisposable {
  service: InProcessService;
  provider: IdentityProvider;
  /** Signs a person in, and returns the browser with the session and the page on which it ended. */
  signIn(subject: string, returnTo?: string): Promise<{ browser: BrowserJar; page: Visit }>;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  admin(method: string, path: string, body?: unknown): Promise<any>;
}

export async function startSignOnService(options: SignOnServiceOptions = {}): Promise<SignOnService> {
  const provider = await IdentityProvider.start(options);
  const service = await startService({
    config: signOnConfig(provider.issuer, options),
    ...(options.environment !== undefined && { environment: options.environment }),
  });
  provider.serviceOrigin = service.origin;
  return {
    service,
    provider,
    async signIn(subject, returnTo = "/") {
      provider.signsInAs = subject;
      const browser = new BrowserJar();
      const page = await browser.open(`${service.origin}/sign-on/idp/start?return_to=${encodeURIComponent(returnTo)}`);
      return { browser, page };
    },
    async admin(method, path, body) {
      const response = await fetch(`${service.origin}/v1/organization${path}`, {
        method,
        headers: { authorization: `Bearer ${service.adminKey}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.json();
    },
    async [Symbol.asyncDispose]() {
      await service.stop();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** Describes the session of a browser. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
export async function sessionOf(browser: BrowserJar, origin: string): Promise<any> {
  return (await browser.fetch(`${origin}/console/session`)).json();
}

/** Status of a chat request with the session of a browser. */
export async function chatStatus(browser: BrowserJar, origin: string): Promise<number> {
  const response = await browser.fetch(`${origin}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "echo", messages: [{ role: "user", content: "Hello" }] }),
  });
  await response.body?.cancel();
  return response.status;
}
