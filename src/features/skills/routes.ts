import { rm } from "node:fs/promises";
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from "fastify";
import { takeMultipart } from "../../http/form-scopes.ts";
import { onDisconnect } from "../../http/on-disconnect.ts";
import { operation, routes, scope } from "../../http/operation.ts";
import { projectOf } from "../../http/project-of.ts";
import { sendBytes } from "../../http/send-bytes.ts";
import { receiveUpload, requireFile, type Upload, type UploadOptions } from "../../http/upload.ts";
import { toListBody } from "../../wire/openai/organization/organization-list.ts";
import {
  checkSkillForm,
  DeletedSkill,
  DeletedSkillVersion,
  readVersionForm,
  Skill,
  SkillBody,
  SkillFiles,
  SkillForm,
  SkillListQuery,
  SkillVersion,
  SkillVersionForm,
  toSkill,
  toSkillVersion,
} from "../../wire/openai/skills.ts";
import { listOfEntries } from "../../wire/openapi/list-answers.ts";
import { projectAuthorOf } from "../accounts/index.ts";
import type { FileStore } from "../files/index.ts";
import { MAX_ZIP_BYTES } from "./bundle-limits.ts";
import type { BundleSource } from "./bundle-worker.ts";
import { packBundle } from "./bundles.ts";
import { zipTooLarge } from "./skill-faults.ts";
import type { SkillVersionRow } from "./skill-rows.ts";
import type { NewBundle, Skills } from "./skills.ts";

export interface SkillParts {
  skills: Skills;
  files: Pick<FileStore, "checkRoom">;
  uploads: UploadOptions;
}

const READ = { tag: "Responses", permission: "project" } as const;
const WRITE = { ...READ, requires: "project.skills.write" } as const;
const PATH = "/skills/:skill";
const VERSION = `${PATH}/versions/:version` as const;
const ZIP = "application/zip";

/** /v1/skills */
export function skillRoutes({ skills, files, uploads }: SkillParts): FastifyPluginAsync {
  const receive = async (request: FastifyRequest, reply: FastifyReply): Promise<Upload> => {
    await files.checkRoom(projectOf(request), Number(request.headers["content-length"] ?? 0));
    return receiveUpload(request, reply, uploads);
  };
  return routes(
    scope(
      takeMultipart,
      operation(
        "POST /skills",
        {
          ...WRITE,
          summary: "Creates a skill with its first version, from a zip archive or the files of a folder.",
          form: SkillForm,
          files: SkillFiles,
          answer: Skill,
        },
        async ({ request, reply }) => {
          const upload = await receive(request, reply);
          checkSkillForm(upload.fields);
          const bundle = await pack(upload, request, reply);
          return toSkill(await skills.create(projectAuthorOf(request), projectOf(request), bundle));
        },
      ),
      operation(
        `POST ${PATH}/versions`,
        {
          ...WRITE,
          summary: "Adds a version to a skill, which never changes, from a zip archive or the files of a folder.",
          form: SkillVersionForm,
          files: SkillFiles,
          answer: SkillVersion,
        },
        async ({ params, request, reply }) => {
          const resource = { projectId: projectOf(request), id: params.skill };
          await skills.find(resource);
          const upload = await receive(request, reply);
          const isDefault = readVersionForm(upload.fields);
          const bundle = await pack(upload, request, reply);
          return toSkillVersion(await skills.addVersion(projectAuthorOf(request), resource, bundle, isDefault));
        },
      ),
    ),
    operation(
      "GET /skills",
      { ...READ, summary: "Lists the skills of the project.", query: SkillListQuery, answer: listOfEntries(Skill) },
      async ({ query: { after, limit, order }, request }) =>
        toListBody(await skills.list({ projectId: projectOf(request), after, limit, order }), toSkill),
    ),
    operation(`GET ${PATH}`, { ...READ, summary: "Retrieves a skill.", answer: Skill }, async ({ params, request }) =>
      toSkill(await skills.find({ projectId: projectOf(request), id: params.skill })),
    ),
    operation(
      `POST ${PATH}`,
      { ...WRITE, summary: "Sets the default version of a skill.", body: SkillBody, answer: Skill },
      async ({ params, body, request }) => {
        const resource = { projectId: projectOf(request), id: params.skill };
        return toSkill(await skills.setDefault(projectAuthorOf(request), resource, body.default_version));
      },
    ),
    operation(
      `DELETE ${PATH}`,
      { ...WRITE, summary: "Deletes a skill with all versions.", answer: DeletedSkill },
      async ({ params: { skill: id }, request }) => {
        await skills.delete(projectAuthorOf(request), { projectId: projectOf(request), id });
        return { id, object: "skill.deleted" as const, deleted: true };
      },
    ),
    operation(
      `GET ${PATH}/content`,
      { ...READ, summary: "Downloads the default version of a skill, a zip archive.", content: [ZIP] },
      async ({ params, request, reply }) =>
        sendBundle(reply, skills, await skills.findVersion({ projectId: projectOf(request), id: params.skill })),
    ),
    operation(
      `GET ${PATH}/versions`,
      {
        ...READ,
        summary: "Lists the versions of a skill.",
        query: SkillListQuery,
        answer: listOfEntries(SkillVersion),
      },
      async ({ params, query, request }) => {
        const resource = { projectId: projectOf(request), id: params.skill };
        return toListBody(await skills.listVersions(resource, query), toSkillVersion);
      },
    ),
    operation(
      `GET ${VERSION}`,
      { ...READ, summary: "Retrieves a version of a skill, by its number or `latest`.", answer: SkillVersion },
      async ({ params, request }) => {
        const resource = { projectId: projectOf(request), id: params.skill };
        return toSkillVersion(await skills.findVersion(resource, params.version));
      },
    ),
    operation(
      `DELETE ${VERSION}`,
      {
        ...WRITE,
        summary: "Deletes a version of a skill that is not the default; with the last version, the skill.",
        answer: DeletedSkillVersion,
      },
      async ({ params, request }) => {
        const resource = { projectId: projectOf(request), id: params.skill };
        const { id, version } = await skills.deleteVersion(projectAuthorOf(request), resource, params.version);
        return { id, object: "skill.version.deleted" as const, deleted: true, version: String(version) };
      },
    ),
    operation(
      `GET ${VERSION}/content`,
      { ...READ, summary: "Downloads a version of a skill, a zip archive.", content: [ZIP] },
      async ({ params, request, reply }) => {
        const resource = { projectId: projectOf(request), id: params.skill };
        return sendBundle(reply, skills, await skills.findVersion(resource, params.version));
      },
    ),
  );
}

/** Checks an upload and writes its bundle beside it. Throws a Fault for files that are no skill. */
async function pack(upload: Upload, request: FastifyRequest, reply: FastifyReply): Promise<NewBundle> {
  const { files } = upload;
  const [first = requireFile(upload, "files")] = files;
  const isZip = files.length === 1 && isZipFile(first);
  if (isZip && first.bytes > MAX_ZIP_BYTES) throw zipTooLarge(first.bytes);
  const source: BundleSource = isZip
    ? { zip: first.path }
    : { files: files.map(({ clientPath, path }) => ({ name: clientPath, path })) };
  const path = `${first.path}.bundle`;
  const leaving = new AbortController();
  onDisconnect(reply)(() => leaving.abort());
  try {
    return { ...(await packBundle(source, path, { projectId: projectOf(request), signal: leaving.signal })), path };
  } catch (failure) {
    await rm(path, { force: true });
    throw failure;
  }
}

function isZipFile({ name, type }: { name: string; type: string }): boolean {
  return /\.zip$/i.test(name) || /^application\/(?:x-)?zip/i.test(type);
}

async function sendBundle(reply: FastifyReply, skills: Skills, version: SkillVersionRow): Promise<FastifyReply> {
  const filename = `${version.skillId}-${version.version}.zip`;
  reply.header("content-length", version.bytes).header("content-disposition", `attachment; filename="${filename}"`);
  return sendBytes(reply, ZIP, await skills.read(version));
}
