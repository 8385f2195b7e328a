import { msg } from "../../i18n/translate.ts";

/** Built-in roles in a project. */
export const PROJECT_ROLES = [
  { value: "member", label: msg("Member: calls models") },
  { value: "viewer", label: msg("Viewer: reads, changes nothing") },
  { value: "owner", label: msg("Owner: everything in the project") },
];
