/** What other features may use. */

export type { OpenMail } from "./feature.ts";
export type { LinkMail, Mail, MailOutbox } from "./mail-outbox.ts";
