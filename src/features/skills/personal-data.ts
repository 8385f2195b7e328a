import type { PersonalData, QueriedRows } from "../../storage/personal-data.ts";
import { bundleOf, removeVersion, withdrawVersion } from "./remove-version.ts";

const AT_ONCE = 100;
/** Larger bundles are in the export without their bytes, which `GET /v1/skills/{id}/versions/{version}/content` returns. */
const MAX_EXPORTED_BYTES = 10_000_000;

type Context = Parameters<NonNullable<QueriedRows<"skillVersions">["read"]>>[0];

async function page({ database }: Context, keys: readonly string[], after: string) {
  return database.run((executor) =>
    executor
      .selectFrom("skillVersions")
      .selectAll()
      .where("createdBy", "in", keys.length === 0 ? [""] : keys)
      .where("id", ">", after)
      .orderBy("id")
      .limit(AT_ONCE)
      .execute(),
  );
}

/** As with files, what a person uploaded is theirs: an erasure deletes it. */
const versionsOfPerson: QueriedRows<"skillVersions"> = {
  columns: ["createdBy"],
  async *read(context, { identifiers: { caller } }) {
    for (let after = ""; ; ) {
      const rows = await page(context, caller, after);
      for (const row of rows) {
        if (row.version === 0) continue;
        const isSmall = row.bytes <= MAX_EXPORTED_BYTES;
        const chunks = isSmall ? await Array.fromAsync(await context.files.blobs.read(bundleOf(row))) : undefined;
        yield { ...row, content: chunks === undefined ? null : Buffer.concat(chunks) };
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  },
  async erase(context, { identifiers: { caller } }) {
    const { database, files } = context;
    for (let erased = 0; ; ) {
      const rows = await page(context, caller, "");
      if (rows.length === 0) return erased;
      for (const row of rows) {
        await database.transaction((executor) => withdrawVersion(executor, row));
        await removeVersion(database, files.blobs, row);
      }
      erased += rows.length;
    }
  },
};

export const skillVersionData = {
  skillVersions: {
    rows: [versionsOfPerson],
    texts: { columns: { name: "prose", description: "prose" }, within: "projectId" },
  },
} as const satisfies PersonalData;
