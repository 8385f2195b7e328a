import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request, send } from "../../api/request.ts";
import { saveFile } from "../../components/save-file.ts";

export type Skill = Answers["Skill"];

const SKILLS = "v1/skills";

const pathOf = (id: string) => `${SKILLS}/${encodeURIComponent(id)}`;

export const skillsQuery = queryOptions({
  queryKey: ["skills"],
  queryFn: ({ signal }) => listAll<Skill>(SKILLS, { limit: 100 }, signal),
});

/** Creates a skill, or a version of one that becomes its default; `files`: a zip archive, or SKILL.md and what it mentions. */
export async function uploadSkill(files: readonly File[], skill: Skill | undefined): Promise<void> {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.webkitRelativePath || file.name);
  if (skill !== undefined) form.set("default", "true");
  await request(skill === undefined ? SKILLS : `${pathOf(skill.id)}/versions`, { method: "POST", body: form });
}

export function setDefaultVersion(id: string, version: string): Promise<Skill> {
  return request(pathOf(id), { method: "POST", body: { default_version: version } });
}

export function deleteSkill(id: string): Promise<unknown> {
  return request(pathOf(id), { method: "DELETE" });
}

export async function downloadSkill({ id, name }: Skill): Promise<void> {
  saveFile(`${name}.zip`, await (await send(`${pathOf(id)}/content`)).blob());
}
