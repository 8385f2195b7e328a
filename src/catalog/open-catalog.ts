import type { Database } from "../storage/database.ts";
import { LiveCatalog, type LiveCatalogOptions } from "./live-catalog.ts";
import { recordFirstSeen } from "./model-first-seen.ts";

export type CatalogOptions = Omit<LiveCatalogOptions, "see"> & { database: Database; lifetime: AsyncDisposableStack };

export function openCatalog({ database, lifetime, ...options }: CatalogOptions): LiveCatalog {
  const see = (ids: string[]) => database.run((executor) => recordFirstSeen(executor, ids, Date.now()));
  const live = new LiveCatalog({ ...options, see });
  lifetime.defer(() => live.close());
  return live;
}
