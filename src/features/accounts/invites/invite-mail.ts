import type { Secret } from "../../../kernel/secret.ts";
import type { Mail } from "../../mail/index.ts";
import type { InviteRow } from "../people-rows.ts";

type Invited = Pick<InviteRow, "organizationId" | "email" | "expiresAt"> & { organization: string };

/** E-mail with the link of an invite. `publicUrl`: address of the console. */
export function inviteMail(
  { organizationId, email, expiresAt, organization }: Invited,
  token: Secret,
  publicUrl: string,
): Mail {
  const until = new Date(expiresAt).toISOString().slice(0, 10);
  const body = [
    `You are invited to the organization "${organization}" on Parlance.`,
    "",
    "Accept the invite with this link, which works once:",
    `${publicUrl}/#/invite?token=${encodeURIComponent(token.reveal())}`,
    "",
    `It expires on ${until} (UTC). If you did not expect this e-mail, ignore it.`,
    "",
  ].join("\n");
  return { type: "invite", organizationId, recipients: [email], subject: `Invite to ${organization}`, body };
}
