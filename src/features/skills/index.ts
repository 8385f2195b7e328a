/** What other features may use. */

export { ContainerSkillReader, type MountedSkill } from "./container-skills.ts";
export type { Skills } from "./skills.ts";
