/** E-mail to one recipient, until it is delivered or given up. */
export interface MailDeliveryRow {
  id: string;
  organizationId: string;
  recipient: string;
  /** Occasion, for the log and metrics. */
  type: string;
  subject: string;
  /** Plain text. */
  body: string;
  createdAt: number;
  attempts: number;
  /** Also moved on by the process that attempts it, so no other one does. */
  dueAt: number;
}

declare module "../../storage/schema.ts" {
  interface Schema {
    mailDeliveries: MailDeliveryRow;
  }
}
