/** Skills as OpenAI's clients upload, list and read them. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";
import { listOf } from "../../kernel/list-of.ts";
import { type AnswerOf, named } from "../openapi/named.ts";
import { PAGE_QUERY, queryBoolean, toSeconds } from "./organization/organization-list.ts";
import { parse } from "./validate.ts";

const MAX_ID_LENGTH = 64;
/** Skills of one container. */
const MAX_SKILLS = 200;
/** Characters of a zip archive of 50 MB in base64, which OpenAI allows. */
const MAX_INLINE_LENGTH = 70_254_592;

/** Whether a text may be a skill's name, which is also the name of its folder. */
export function isSkillName(text: string): boolean {
  return SKILL_NAME.test(text);
}

const SKILL_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export const Skill = named(
  "Skill",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("skill"),
    name: z.string(),
    description: z.string(),
    created_at: z.int(),
    default_version: z.string(),
    latest_version: z.string(),
  })),
);

export const SkillVersion = named(
  "SkillVersion",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("skill.version"),
    skill_id: z.string(),
    version: z.string(),
    created_at: z.int(),
    name: z.string(),
    description: z.string(),
  })),
);

export const DeletedSkill = named(
  "DeletedSkill",
  lazy.object(() => ({ id: z.string(), object: z.literal("skill.deleted"), deleted: z.boolean() })),
);

export const DeletedSkillVersion = named(
  "DeletedSkillVersion",
  lazy.object(() => ({
    id: z.string(),
    object: z.literal("skill.version.deleted"),
    deleted: z.boolean(),
    version: z.string(),
  })),
);

/** The form has nothing beside its `files`. */
export const SkillForm = named(
  "SkillForm",
  lazy.strictObject(() => ({})),
);

export const SkillVersionForm = named(
  "SkillVersionForm",
  lazy.strictObject(() => ({
    default: queryBoolean().optional().describe("Whether requests without a version use this one from now on."),
  })),
);

export const SkillFiles = z.object({
  files: z
    .file()
    .describe(
      "A zip archive, or the files of the skill, each as `files[]` with its path as the file name. One of them is `SKILL.md`, at the top or in the one folder that has all others.",
    ),
});

export const SkillBody = named(
  "SkillBody",
  lazy.strictObject(() => ({
    default_version: z.string().min(1).max(MAX_ID_LENGTH).describe("Number of a version, or `latest`."),
  })),
);

export const SkillListQuery = lazy.strictObject(() => ({
  ...PAGE_QUERY,
  order: z.enum(["asc", "desc"]).default("desc"),
}));

const SkillReference = named(
  "SkillReference",
  lazy.strictObject(() => ({
    type: z.literal("skill_reference"),
    skill_id: z.string().min(1).max(MAX_ID_LENGTH),
    version: z
      .string()
      .min(1)
      .max(MAX_ID_LENGTH)
      .optional()
      .describe("Number of a version, or `latest`. Default: the skill's default version."),
  })),
);

const InlineSkill = named(
  "InlineSkill",
  lazy.strictObject(() => ({
    type: z.literal("inline"),
    name: z.string().regex(SKILL_NAME, { error: "it must have at most 64 lower-case letters, digits, - and _" }),
    description: z.string().min(1).max(1024),
    source: z.strictObject({
      type: z.literal("base64"),
      media_type: z.literal("application/zip"),
      data: z.string().min(1).max(MAX_INLINE_LENGTH),
    }),
  })),
);

/** Skills of a container that `POST /v1/containers` creates. */
export const ContainerSkills = listOf(z.union([SkillReference, InlineSkill])).max(MAX_SKILLS);
/** Skills of a container that a response creates, whose request is stored: bundles would be, too. */
export const ReferencedSkills = listOf(SkillReference).max(MAX_SKILLS);

export type ContainerSkill = z.output<typeof SkillReference> | z.output<typeof InlineSkill>;

export interface ShownSkillVersion {
  id: string;
  skillId: string;
  version: number;
  name: string;
  description: string;
  createdAt: number;
}

export interface ShownSkill {
  id: string;
  createdAt: number;
  latestVersion: number;
  /** The default version, whose name and description are the skill's. */
  shown: Pick<ShownSkillVersion, "name" | "description" | "version">;
}

export function toSkill({ id, createdAt, latestVersion, shown }: ShownSkill): AnswerOf<typeof Skill> {
  const { name, description, version } = shown;
  const versions = { default_version: String(version), latest_version: String(latestVersion) };
  return { id, object: "skill", name, description, created_at: toSeconds(createdAt), ...versions };
}

export function toSkillVersion(row: ShownSkillVersion): AnswerOf<typeof SkillVersion> {
  const { id, skillId, version, name, description, createdAt } = row;
  const identity = { id, object: "skill.version", skill_id: skillId, version: String(version) } as const;
  return { ...identity, created_at: toSeconds(createdAt), name, description };
}

/** Whether an uploaded version becomes the default. Throws a Fault for other fields. */
export function readVersionForm(fields: readonly (readonly [name: string, value: string])[]): boolean {
  return parse(SkillVersionForm, Object.fromEntries(fields)).default ?? false;
}

/** Throws a Fault for fields beside the files. */
export function checkSkillForm(fields: readonly (readonly [name: string, value: string])[]): void {
  parse(SkillForm, Object.fromEntries(fields));
}
