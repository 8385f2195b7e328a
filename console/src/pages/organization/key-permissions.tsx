import { MultiSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { t } from "../../i18n/translate.ts";
import { rolesQuery } from "../people/people-queries.ts";

/** The role that has every permission. */
const OWNER = "role_organization_owner";
/** About keys of a person, which an admin key is not. */
const PERSONAL = "project.own_keys.write";

interface KeyPermissionsProps {
  value: string[];
  onChange: (permissions: string[]) => void;
}

/** What a new admin key allows. */
export function KeyPermissions({ value, onChange }: KeyPermissionsProps) {
  const roles = useQuery(rolesQuery());
  const all = roles.data?.find(({ id }) => id === OWNER)?.permissions ?? [];
  return (
    <MultiSelect
      label={t("Permissions")}
      description={t("Without a choice, the key allows everything.")}
      placeholder={value.length === 0 ? t("Everything") : ""}
      searchable
      clearable
      data={all.filter((permission) => permission !== PERSONAL)}
      value={value}
      onChange={onChange}
    />
  );
}
