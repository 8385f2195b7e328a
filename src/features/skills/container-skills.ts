/** Skills that containers are created with. */

import { invalidRequest } from "../../kernel/faults.ts";
import { type ContainerSkill, isSkillName } from "../../wire/openai/skills.ts";
import type { UnpackedFile } from "./bundle-worker.ts";
import { requireSmallBundle, unpackBundle } from "./bundles.ts";
import type { SkillVersionRow } from "./skill-rows.ts";
import type { Skills } from "./skills.ts";

/** A skill in a container. */
export interface MountedSkill {
  /** Also the name of its folder. */
  name: string;
  description: string;
  files: readonly UnpackedFile[];
}

type Source =
  | { param: string; version: SkillVersionRow }
  | { param: string; inline: ContainerSkill & { type: "inline" } };

/** Finds the skills of a request at once, and reads their files when the container is there. */
export class ContainerSkillReader {
  readonly #skills: Skills;
  readonly #projectId: string;
  readonly #maxBytes: number;
  readonly #sources: readonly Source[];

  private constructor(
    skills: Skills,
    { projectId, maxBytes }: { projectId: string; maxBytes: number },
    sources: readonly Source[],
  ) {
    this.#skills = skills;
    this.#projectId = projectId;
    this.#maxBytes = maxBytes;
    this.#sources = sources;
  }

  /** Throws a Fault for a skill that the project does not have, one that surely has more than `maxBytes`, and two with the same name. */
  static async find(
    skills: Skills,
    { projectId, maxBytes }: { projectId: string; maxBytes: number },
    requested: readonly ContainerSkill[],
  ): Promise<ContainerSkillReader> {
    const sources: Source[] = [];
    const names = new Set<string>();
    for (const [index, each] of requested.entries()) {
      const param = `skills[${index}]`;
      const source: Source =
        each.type === "inline"
          ? { param, inline: each }
          : { param, version: await skills.findVersion({ projectId, id: each.skill_id }, each.version, param) };
      if ("version" in source) requireSmallBundle(source.version.bytes, maxBytes, param);
      const name = nameOf(source);
      if (names.has(name)) {
        throw invalidRequest(`Two skills of the container have the name '${name}'.`, param, "invalid_value");
      }
      names.add(name);
      sources.push(source);
    }
    return new ContainerSkillReader(skills, { projectId, maxBytes }, sources);
  }

  /** Yields the skills, one in memory at a time. Throws a Fault for one with too many bytes. */
  async *read(signal: AbortSignal): AsyncGenerator<MountedSkill> {
    const [maxBytes, projectId] = [this.#maxBytes, this.#projectId];
    for (const source of this.#sources) {
      const { param } = source;
      const files = async () => {
        if ("version" in source) return this.#skills.unpack(source.version, maxBytes, param, signal);
        const { data } = source.inline.source;
        return unpackBundle(() => Buffer.from(data, "base64"), { maxBytes, param, projectId, signal });
      };
      const { description } = "version" in source ? source.version : source.inline;
      yield { name: nameOf(source), description, files: (await files()).files };
    }
  }
}

/** An erasure may have put a pseudonym into a name, which need not be one of a folder. */
function nameOf(source: Source): string {
  if ("inline" in source) return source.inline.name;
  const { name, skillId } = source.version;
  return isSkillName(name) ? name : skillId;
}
