/** Section `mail`. */

import { z } from "zod";
import { Secret } from "../../kernel/secret.ts";
import { mapping } from "../../kernel/settings/mapping.ts";

/** Ports by convention (RFC 8314, RFC 6409). */
const PORTS = { tls: 465, starttls: 587, none: 25 } as const;

export const mailSettings = mapping(
  () => ({
    host: z.string().min(1).max(253).describe("SMTP server, such as smtp.example.com."),
    port: z
      .int()
      .min(1)
      .max(65_535)
      .optional()
      .describe("Port. Default: 465 with tls, 587 with starttls, 25 without encryption."),
    security: z
      .enum(["tls", "starttls", "none"])
      .default("starttls")
      .describe(
        "tls: encrypted from the start. starttls: refuses to send unless the server encrypts. none: for a server on this machine or in a trusted network.",
      ),
    user: z.string().min(1).max(256).optional().describe("User name. Default: no authentication."),
    password: z
      .string()
      .min(1)
      .max(1024)
      .transform((text) => new Secret(text))
      .optional()
      .describe("Password of `user`. Pass it as an environment variable."),
    from: z
      .string()
      .min(3)
      .max(320)
      .refine((text) => /^[^\r\n]*[^\s@]+@[^\s@]+$/.test(text), {
        error: "must be an address, such as parlance@example.com or Parlance <parlance@example.com>",
      })
      .describe("Sender, such as Parlance <parlance@example.com>."),
    public_url: z
      .url({ protocol: /^https?$/, error: "must be an http or https URL" })
      .max(2000)
      .transform((url) => url.replace(/\/+$/, ""))
      .optional()
      .describe("Address of the service in e-mails, such as https://ai.example.com. Default: `sign_on.public_url`."),
  }),
  "SMTP server for e-mails: alerts of budgets and invites. Without it, none are sent.",
);

export type MailSettings = z.output<typeof mailSettings>;

export function portOf({ port, security }: Pick<MailSettings, "port" | "security">): number {
  return port ?? PORTS[security];
}

declare module "../../kernel/settings/settings.ts" {
  interface Settings {
    mail: z.output<typeof mailSettings> | undefined;
  }
}
