/** What a setup will do: by options, and by questions where options say nothing. */

import type { IdentifiedHost } from "../../features/configuration/connections/identify-host.ts";
import { MIN_PASSWORD_LENGTH } from "../../features/sign-on/index.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { hasSystemd } from "../autostart.ts";
import type { Questions } from "./questions.ts";

export interface SetupOptions {
  connect?: string;
  keyFrom?: string;
  local?: true;
  owner?: string;
  passwordFrom?: string;
  keysOnly?: true;
  atLogin?: true;
  yes?: true;
}

/** A server whose models are added. */
export interface PlannedServer {
  baseUrl: string;
  apiKey: string | undefined;
}

export interface PlannedOwner {
  email: string;
  password: string;
}

export interface Plan {
  /** Undefined: this machine's own models only. */
  server: PlannedServer | undefined;
  /** Undefined: whoever has a key uses the service. */
  owner: PlannedOwner | undefined;
  startsAtLogin: boolean;
}

/** `ask`: undefined with `--yes`. Throws a Fault for options that do not go together. */
export async function makePlan(
  options: SetupOptions,
  found: readonly IdentifiedHost[],
  ask: Questions | undefined,
): Promise<Plan> {
  if (options.connect !== undefined && options.local === true) throw invalidRequest("Use either --connect or --local.");
  if (options.owner !== undefined && options.keysOnly === true)
    throw invalidRequest("Use either --owner or --keys-only.");
  return {
    server: await serverOf(options, found, ask),
    owner: await ownerOf(options, ask),
    startsAtLogin: options.atLogin ?? (await startsAtLogin(ask)),
  };
}

async function serverOf(
  { connect, keyFrom, local }: SetupOptions,
  found: readonly IdentifiedHost[],
  ask: Questions | undefined,
): Promise<PlannedServer | undefined> {
  if (connect !== undefined) return { baseUrl: connect, apiKey: keyFrom === undefined ? undefined : variable(keyFrom) };
  if (local === true || ask === undefined) return undefined;
  const servers = found.filter(({ kind, isAccepted }) => kind !== "parlance" && isAccepted);
  const choice = await ask.choose("Which models answer?", [
    ...servers.map(describeServer),
    "Models that run in Parlance itself; small ones are downloaded now",
    "A provider or another server, by its address and key",
  ]);
  const server = servers[choice];
  if (server !== undefined) return { baseUrl: server.baseUrl, apiKey: undefined };
  if (choice === servers.length) return undefined;
  const baseUrl = await ask.line("Address, such as https://api.example.com/v1: ");
  return { baseUrl, apiKey: (await ask.secret("Key (empty: none): ")) || undefined };
}

function describeServer({ kind, baseUrl, models }: IdentifiedHost): string {
  return `${kind} at ${new URL(baseUrl).origin}, found here: ${models.length === 1 ? "1 model" : `${models.length} models`}`;
}

async function ownerOf(
  { owner, passwordFrom, keysOnly }: SetupOptions,
  ask: Questions | undefined,
): Promise<PlannedOwner | undefined> {
  if (keysOnly === true) return undefined;
  if (owner !== undefined && passwordFrom !== undefined) return { email: owner, password: variable(passwordFrom) };
  if (ask === undefined) {
    if (owner !== undefined) throw invalidRequest("--owner needs --password-from VARIABLE where nobody can be asked.");
    return undefined;
  }
  const email = owner ?? (await ask.line("Your e-mail address, to sign in to the console (empty: keys only): "));
  if (email === "") return undefined;
  for (;;) {
    const password = await ask.secret(`A password of at least ${MIN_PASSWORD_LENGTH} characters: `);
    if (password.length >= MIN_PASSWORD_LENGTH) return { email, password };
  }
}

async function startsAtLogin(ask: Questions | undefined): Promise<boolean> {
  if (ask === undefined || !hasSystemd()) return false;
  return (
    (await ask.choose("When does the service run?", ["While this terminal is open", "At each login (systemd)"])) === 1
  );
}

function variable(name: string): string {
  const value = process.env[name];
  if (!value) throw invalidRequest(`The environment variable ${name} is not set.`);
  return value;
}
