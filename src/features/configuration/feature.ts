import type { Feature, ServiceParts } from "../feature.ts";
import { configuration } from "./routes.ts";

/** The settings in force, for operators to read. */
export function configurationFeature({ accounts, config, live }: ServiceParts): Feature {
  const read = () => {
    const { file, effective } = live.config ?? config;
    return { file, ...effective };
  };
  return { admin: [configuration(accounts, read)] };
}
