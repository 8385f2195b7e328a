import type { Feature } from "../../http/feature.ts";
import type { Accounts } from "../accounts/index.ts";
import { hostedToolPermissions } from "./hosted-tool-policy.ts";

/** Which hosted tools projects may use. */
export function toolFeature({ accounts }: { accounts: Accounts }): Feature {
  return { admin: [hostedToolPermissions(accounts)] };
}
