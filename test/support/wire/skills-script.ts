import { manifest, zipOf } from "../skills/zip-entries.ts";
import type { WireScript } from "./wire-script.ts";

/** Skills and their versions. */
export const skills: WireScript = async ({ recorder, key }) => {
  const send = (title: string, route: string, body?: object) => recorder.send(title, route, { key, body });
  const bundle = (name: string, fields: Record<string, string> = {}) => {
    const form = new FormData();
    const zip = zipOf([{ name: `${name}/SKILL.md`, content: manifest(name) }]);
    form.append("files", new Blob([new Uint8Array(zip)], { type: "application/zip" }), `${name}.zip`);
    for (const [field, value] of Object.entries(fields)) form.append(field, value);
    return form;
  };
  const folder = new FormData();
  folder.append("files[]", new Blob(["# No front matter"]), "notes/SKILL.md");
  const created = await send("create", "POST /v1/skills", bundle("tables"));
  await send("create without front matter", "POST /v1/skills", folder);
  await send("create with JSON", "POST /v1/skills", { files: [] });
  const path = `/v1/skills/${created.id}`;
  await send("list", "GET /v1/skills");
  await send("retrieve", `GET ${path}`);
  await send("add a version", `POST ${path}/versions`, bundle("tables", { default: "true" }));
  await send("list versions", `GET ${path}/versions`);
  await send("retrieve a version", `GET ${path}/versions/1`);
  await send("unknown version", `GET ${path}/versions/9`);
  await send("change the default", `POST ${path}`, { default_version: "1" });
  await send("unknown default", `POST ${path}`, { default_version: "none" });
  await send("content", `GET ${path}/content`);
  await send("content of a version", `GET ${path}/versions/2/content`);
  await send("delete the default version", `DELETE ${path}/versions/1`);
  await send("delete a version", `DELETE ${path}/versions/2`);
  await send("delete", `DELETE ${path}`);
  await send("unknown skill", `GET ${path}`);
};
