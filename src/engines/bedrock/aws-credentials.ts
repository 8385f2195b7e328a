/** AWS credentials from where AWS's own tools look for them. */

import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { MINUTE_MS } from "../../kernel/durations.ts";
import { Fault } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { BedrockSettings } from "./settings.ts";

export interface AwsCredentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string | undefined;
  /** Undefined: they do not expire, or are read again each time. */
  expiresAtMs?: number | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Renewal before the end, since a request may take a while to be signed and sent. */
const EARLY_MS = 5 * MINUTE_MS;
const TIMEOUT_MS = 5000;
const INSTANCE = "http://169.254.169.254";
const CONTAINER = "http://169.254.170.2";

const Issued = lazy.object(() => ({
  AccessKeyId: z.string(),
  SecretAccessKey: z.string(),
  Token: z.string().optional(),
  Expiration: z.coerce.date(),
}));

/** Finds credentials and keeps them until they are about to expire. One search serves all requests that wait. */
export class AwsCredentialSource {
  readonly #settings: Pick<BedrockSettings, "keys" | "profile" | "region">;
  readonly #deployment: string;
  readonly #environment: Environment;
  #current: AwsCredentials | undefined;
  #search: Promise<AwsCredentials> | undefined;

  constructor(
    settings: Pick<BedrockSettings, "keys" | "profile" | "region">,
    deployment: string,
    environment: Environment = process.env,
  ) {
    this.#settings = settings;
    this.#deployment = deployment;
    this.#environment = environment;
  }

  /** Throws a Fault where there are none. */
  async get(): Promise<AwsCredentials> {
    const current = this.#current;
    if (current?.expiresAtMs !== undefined && current.expiresAtMs - EARLY_MS > Date.now()) return current;
    this.#search ??= this.#find().finally(() => {
      this.#search = undefined;
    });
    this.#current = await this.#search;
    return this.#current;
  }

  async #find(): Promise<AwsCredentials> {
    const { keys, profile } = this.#settings;
    if (keys !== undefined) {
      const { accessKeyId, secretAccessKey, sessionToken } = keys;
      return { accessKeyId, secretAccessKey: secretAccessKey.reveal(), sessionToken: sessionToken?.reveal() };
    }
    const environment = this.#environment;
    const credentials =
      profile === undefined
        ? (fromEnvironment(environment) ??
          (await fromProfile(environment.AWS_PROFILE ?? "default", environment)) ??
          (await this.#attempt(() => fromWebIdentity(environment, this.#settings.region))) ??
          (await this.#attempt(() => fromContainer(environment))) ??
          (await this.#attempt(() => fromInstance(environment))))
        : await fromProfile(profile, environment);
    if (credentials !== undefined) return credentials;
    const where =
      profile === undefined ? "the environment, ~/.aws, the container or the instance" : `the profile ${profile}`;
    const message = `There are no AWS credentials for \`${this.#deployment}\` in ${where}.`;
    throw new Fault("upstream-refused", message, { code: "upstream_error" });
  }

  async #attempt(find: () => Promise<AwsCredentials | undefined>): Promise<AwsCredentials | undefined> {
    try {
      return await find();
    } catch (cause) {
      const message = `AWS credentials of \`${this.#deployment}\` could not be renewed.`;
      throw new Fault("upstream-failed", message, { code: "upstream_error", cause });
    }
  }
}

function fromEnvironment(environment: Environment): AwsCredentials | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: environment.AWS_SESSION_TOKEN || undefined };
}

async function fromProfile(profile: string, environment: Environment): Promise<AwsCredentials | undefined> {
  const folder = join(environment.HOME ?? homedir(), ".aws");
  const files = [
    [environment.AWS_SHARED_CREDENTIALS_FILE ?? join(folder, "credentials"), profile],
    [environment.AWS_CONFIG_FILE ?? join(folder, "config"), profile === "default" ? profile : `profile ${profile}`],
  ] as const;
  for (const [path, section] of files) {
    const text = await readFile(path, "utf8").catch(() => "");
    const fields = sectionOf(text, section);
    const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = fields;
    if (!accessKeyId || !secretAccessKey) continue;
    return { accessKeyId, secretAccessKey, sessionToken: fields.aws_session_token || undefined };
  }
  return undefined;
}

function sectionOf(text: string, section: string): Record<string, string> {
  const fields: Record<string, string> = {};
  let isWithin = false;
  for (const line of text.split("\n").map((each) => each.trim())) {
    const name = /^\[\s*([^\]]+?)\s*\]/.exec(line)?.[1];
    if (name !== undefined) isWithin = name === section;
    else if (isWithin && !/^[#;]/.test(line) && line.includes("=")) {
      const at = line.indexOf("=");
      fields[line.slice(0, at).trim()] = line.slice(at + 1).trim();
    }
  }
  return fields;
}

/** AssumeRoleWithWebIdentity of STS, as on EKS. */
async function fromWebIdentity(environment: Environment, region: string): Promise<AwsCredentials | undefined> {
  const { AWS_WEB_IDENTITY_TOKEN_FILE: path, AWS_ROLE_ARN: role } = environment;
  if (!path || !role) return undefined;
  const form = new URLSearchParams({
    Action: "AssumeRoleWithWebIdentity",
    Version: "2011-06-15",
    RoleArn: role,
    RoleSessionName: environment.AWS_ROLE_SESSION_NAME || "parlance",
    WebIdentityToken: (await readFile(path, "utf8")).trim(),
  });
  const url = environment.AWS_ENDPOINT_URL_STS || `https://sts.${region}.amazonaws.com`;
  const response = await ask(url, { method: "POST", body: form, headers: { accept: "application/json" } });
  const { AssumeRoleWithWebIdentityResponse: answer } = (await response.json()) as {
    AssumeRoleWithWebIdentityResponse?: { AssumeRoleWithWebIdentityResult?: { Credentials?: unknown } };
  };
  const credentials = answer?.AssumeRoleWithWebIdentityResult?.Credentials as Record<string, unknown>;
  // Times are in seconds.
  const Expiration = new Date(Number(credentials?.Expiration) * 1000);
  return toCredentials({ ...credentials, Token: credentials?.SessionToken, Expiration });
}

/** ECS, and Pod Identity of EKS. */
async function fromContainer(environment: Environment): Promise<AwsCredentials | undefined> {
  const { AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: path, AWS_CONTAINER_CREDENTIALS_FULL_URI: address } = environment;
  const url = path ? CONTAINER + path : address;
  if (!url) return undefined;
  const file = environment.AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE;
  const token = file ? (await readFile(file, "utf8")).trim() : environment.AWS_CONTAINER_AUTHORIZATION_TOKEN;
  const response = await ask(url, { headers: token ? { authorization: token } : {} });
  return toCredentials(await response.json());
}

/** Version 2 of the instance metadata service. */
async function fromInstance(environment: Environment): Promise<AwsCredentials | undefined> {
  if (environment.AWS_EC2_METADATA_DISABLED === "true") return undefined;
  const origin = environment.AWS_EC2_METADATA_SERVICE_ENDPOINT || INSTANCE;
  const ttl = { "x-aws-ec2-metadata-token-ttl-seconds": "21600" };
  const session = await ask(`${origin}/latest/api/token`, { method: "PUT", headers: ttl }).catch(() => undefined);
  // Not an instance of EC2.
  if (session === undefined) return undefined;
  const headers = { "x-aws-ec2-metadata-token": await session.text() };
  const roles = `${origin}/latest/meta-data/iam/security-credentials/`;
  const [role = ""] = (await (await ask(roles, { headers })).text()).trim().split("\n");
  return toCredentials(await (await ask(roles + role, { headers })).json());
}

async function ask(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, { ...init, redirect: "error", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`the source of credentials answered with status ${response.status}`);
  return response;
}

function toCredentials(value: unknown): AwsCredentials {
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, Token, Expiration } = Issued.parse(value);
  return { accessKeyId, secretAccessKey, sessionToken: Token, expiresAtMs: Expiration.getTime() };
}
