import type { AccountTransaction } from "../account-transaction.ts";
import type { OrganizationRole, UserRow } from "../people-rows.ts";
import { updateUserRow } from "./user-queries.ts";

/** Sets the role of a user in the organization, and audits that unless the user has it. */
export async function setOrganizationRole(
  { executor, audit }: AccountTransaction,
  user: UserRow,
  role: OrganizationRole,
): Promise<UserRow> {
  if (user.role === role) return user;
  const { id, organizationId } = user;
  await updateUserRow(executor, id, { role });
  await audit({ type: "user.updated", organizationId, resourceId: id, details: { role } });
  return { ...user, role };
}
