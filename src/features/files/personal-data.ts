import type { PersonalData, QueriedRows } from "../../storage/personal-data.ts";

const AT_ONCE = 100;
/** Files beyond it are in the export without their bytes, which the Files API returns. */
const MAX_EXPORTED_BYTES = 10_000_000;

const filesOfPerson: QueriedRows<"files"> = {
  columns: ["createdBy"],
  async *read({ database, files }, { identifiers: { caller } }) {
    for (let after = ""; ; ) {
      const rows = await database.run((executor) =>
        executor
          .selectFrom("files")
          .selectAll()
          .where("createdBy", "in", caller.length === 0 ? [""] : caller)
          .where("isStored", "=", 1)
          .where("id", ">", after)
          .orderBy("id")
          .limit(AT_ONCE)
          .execute(),
      );
      for (const row of rows) {
        const isSmall = row.bytes <= MAX_EXPORTED_BYTES;
        yield { ...row, content: isSmall ? await readAll(await files.readStored(row.id)) : null };
      }
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  },
  async erase({ database, files }, { identifiers: { caller } }) {
    let erased = 0;
    for (;;) {
      const rows = await database.run((executor) =>
        executor
          .selectFrom("files")
          .select(["id", "projectId"])
          .where("createdBy", "in", caller.length === 0 ? [""] : caller)
          .limit(AT_ONCE)
          .execute(),
      );
      if (rows.length === 0) return erased;
      for (const row of rows) await files.remove(row);
      erased += rows.length;
    }
  },
};

async function readAll(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(chunks));
}

export const fileData = {
  files: { rows: [filesOfPerson], texts: { columns: { filename: "prose" }, within: "projectId" } },
} as const satisfies PersonalData;
