/** Answers of health checks and of the console's sessions, and error bodies. */

import { z } from "zod";
import { TASKS } from "../../contracts/task.ts";
import { lazy } from "../../kernel/lazy.ts";
import { named } from "./named.ts";

export const ErrorAnswer = named(
  "Error",
  lazy.object(() => ({
    error: z.object({
      message: z.string().describe("What happened, the limit and the way out."),
      type: z.string(),
      param: z.string().nullable().describe("Path of the invalid field."),
      code: z.string().nullable().describe("Stable identifier for programs."),
    }),
  })),
);

export const AnthropicErrorAnswer = named(
  "AnthropicError",
  lazy.object(() => ({
    type: z.literal("error"),
    error: z.object({ type: z.string(), message: z.string() }),
    request_id: z.string(),
  })),
);

export const OllamaErrorAnswer = named("OllamaErrorAnswer", z.object({ error: z.string() }));

export const Live = named("Liveness", z.object({ status: z.literal("live") }));

export const Readiness = named(
  "Readiness",
  lazy.object(() => ({
    status: z.enum(["ready", "not_ready"]),
    database: z.object({ state: z.enum(["up", "down"]), reason: z.string().optional() }),
    version: z.string().optional(),
    models: z
      .array(
        z.object({
          id: z.string(),
          task: z.enum(TASKS),
          deployment: z.string(),
          engine: z.string(),
          state: z.enum(["loading", "unloaded", "up", "restarting", "failed"]),
          device: z.string().optional(),
          memory_bytes: z.number().optional().describe("Resident memory of a loaded local model."),
          vram_bytes: z.number().optional().describe("Memory of the GPU that a loaded local model has taken."),
          load_seconds: z.number().optional().describe("Duration of the last load."),
          context_window: z.int().optional().describe("Of a loaded chat model."),
          context_window_reason: z.enum(["configured", "trained", "memory"]).optional(),
          circuit: z
            .enum(["closed", "open", "half-open"])
            .describe("open: no requests until the cooldown ends; half-open: one request probes the deployment."),
          reason: z.string().optional().describe("What it waits for, or why it failed."),
        }),
      )
      .optional()
      .describe("Only with an admin key."),
    pools: z
      .array(
        z.object({
          model: z.string(),
          deployment: z.string(),
          engine: z.string(),
          source: z.string(),
          endpoints: z.int(),
          state: z.enum(["up", "stale", "empty"]),
          reason: z.string().optional(),
        }),
      )
      .optional()
      .describe("Deployments that stand for endpoints from the DNS or a file. Only with an admin key."),
  })),
);

const reference = lazy.object(() => ({ id: z.string(), name: z.string() }));

const signInOptions = lazy.object(() => ({
  providers: z.array(reference).describe("OpenID Connect providers: `/sign-on/{id}/start` begins a sign-in."),
  password: z.boolean().describe("Whether users may have passwords."),
  has_passwords: z.boolean().describe("Whether any user has one: otherwise there is nothing to sign in with."),
  key: z.boolean().describe("Whether keys sign in."),
}));

const permissions = z.array(z.string());

const consoleUser = lazy.object(() => ({
  id: z.string(),
  email: z.string(),
  name: z.string(),
  role: z.string(),
  provider: z.string().nullable().describe("Provider that signed the user in."),
  has_password: z.boolean(),
  access: z.object({
    organization: permissions.describe("Permissions in the organization; those of projects hold in every project."),
    projects: z.record(z.string(), permissions).describe("Permissions by project."),
  }),
}));

export const ConsoleSession = named(
  "ConsoleSession",
  z.union([
    lazy.object(() => ({ object: z.literal("console.session"), signed_in: z.literal(false), sign_in: signInOptions })),
    lazy.object(() => ({
      object: z.literal("console.session"),
      signed_in: z.literal(true),
      version: z.string(),
      organization: z.object({ ...reference.shape, is_default: z.boolean() }),
      is_admin: z.boolean().describe("Whether the session may do everything in the organization."),
      project: reference.nullable().describe("Project in which the session calls models."),
      projects: z.array(reference).describe("Projects among which the user can choose."),
      user: consoleUser.nullable().describe("Null for a session with keys."),
      sign_in: signInOptions,
      contacts: z
        .array(z.object({ name: z.string(), email: z.string() }))
        .describe("Owners of the organization whom a user without a project can ask; empty for others."),
      saves_chats: z.boolean().describe("Whether the service saves the chats of the signed-in user."),
      needs_owner: z
        .boolean()
        .describe("Whether the session is the operator's, and the organization has no owner yet."),
      tools: z.array(z.string()).describe("Types of tools that the service runs within responses."),
    })),
  ]),
);

export const ConsoleInvite = named(
  "ConsoleInvite",
  lazy.object(() => ({
    object: z.literal("console.invite"),
    email: z.string().describe("Address that was invited."),
    organization: reference,
    expires_at: z.int(),
  })),
);

export const SignInCode = named(
  "SignInCode",
  lazy.object(() => ({
    object: z.literal("console.sign_in_code"),
    code: z.string().describe("Signs in once, within an hour: `/#/sign-in?code=…`."),
  })),
);

export const SignedOut = named(
  "ConsoleSessionDeleted",
  lazy.object(() => ({
    object: z.literal("console.session.deleted"),
    deleted: z.boolean(),
    end_session_url: z.string().nullable().describe("Address at the provider that ends the session there, too."),
  })),
);

export const PasswordLink = named(
  "PasswordLink",
  lazy.object(() => ({
    object: z.literal("organization.user.password_link"),
    token: z.string().describe("Sets a password once, within a day: `/#/password?token=…`."),
    expires_in_seconds: z.int(),
  })),
);
