import { Link } from "@tanstack/react-router";
import { useCallback } from "react";
import { t } from "../../i18n/translate.ts";
import type { ListedKey } from "../keys/key-list.tsx";
import { ProjectKeys } from "../keys/project-keys.tsx";
import { createKey, type Project, pathOf } from "./projects-api.ts";

export function KeysTab({ project }: { project: Project }) {
  const ownerOf = useCallback(
    ({ owner }: ListedKey) => {
      if (!("service_account" in owner)) return "user" in owner ? owner.user.name : t("Operator");
      const account = owner.service_account;
      const params = { project: project.id, account: account.id };
      return (
        <Link to="/projects/$project/accounts/$account" params={params} className="link">
          {account.name}
        </Link>
      );
    },
    [project.id],
  );
  return (
    <ProjectKeys
      project={project}
      path={`${pathOf(project.id)}/api_keys`}
      nameDescription={t("Names the key and its service account, such as the program that will use it.")}
      create={(name, seconds) => createKey(project.id, name, seconds)}
      ownerOf={ownerOf}
    />
  );
}
