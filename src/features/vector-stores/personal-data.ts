import type { Person, PersonalContext, PersonalData, QueriedRows } from "../../storage/personal-data.ts";
import { deleteStoreFile } from "./store-file-queries.ts";
import { increaseVersion, removeContent } from "./vector-store-queries.ts";
import type { VectorStoreFileRow } from "./vector-store-rows.ts";

const AT_ONCE = 100;

/** Files that keys of the person added to stores, or whose bytes the person uploaded. */
async function page({ database }: PersonalContext, person: Person, after: string): Promise<VectorStoreFileRow[]> {
  const { caller } = person.identifiers;
  const keys = caller.length === 0 ? [""] : caller;
  return database.run((executor) =>
    executor
      .selectFrom("vectorStoreFiles")
      .selectAll()
      .where(({ eb, or, selectFrom }) =>
        or([eb("keyId", "in", keys), eb("id", "in", selectFrom("files").select("id").where("createdBy", "in", keys))]),
      )
      .where("additionId", ">", after)
      .orderBy("additionId")
      .limit(AT_ONCE)
      .execute(),
  );
}

/** The export has the texts with the files themselves. */
const filesOfPerson: QueriedRows<"vectorStoreFiles"> = {
  columns: ["keyId"],
  async *read(context, person) {
    for (let after = ""; ; ) {
      const rows = await page(context, person, after);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.additionId;
    }
  },
  async erase(context, person) {
    const { database } = context;
    let erased = 0;
    for (;;) {
      const rows = await page(context, person, "");
      if (rows.length === 0) return erased;
      for (const { vectorStoreId, id, additionId } of rows) {
        await removeContent(database, additionId);
        await database.transaction(async (executor) => {
          await deleteStoreFile(executor, vectorStoreId, id);
          await increaseVersion(executor, vectorStoreId);
        });
      }
      erased += rows.length;
    }
  },
};

export const vectorStoreFileData = {
  vectorStoreFiles: {
    rows: [filesOfPerson],
    texts: {
      columns: { filename: "prose", attributes: "json", errorMessage: "prose" },
      within: "projectId",
      key: ["vectorStoreId", "id"],
    },
  },
} as const satisfies PersonalData;
