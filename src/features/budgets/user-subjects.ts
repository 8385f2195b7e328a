import type { Database } from "../../storage/database.ts";
import { findUsableApiKeys, findUser, type UserReference } from "../accounts/index.ts";

export interface UserKey {
  id: string;
  projectId: string | null;
  /** First key of the line in which each replaced the one before. */
  rootKeyId?: string | null;
  createdAt: number;
}

/** Finds whose budgets concern a user. */
export class UserSubjects {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Keys of a user that work; undefined when the user does not exist. */
  async keysOf(reference: UserReference): Promise<UserKey[] | undefined> {
    return this.#database.run(async (executor) => {
      const user = await findUser(executor, reference);
      if (user === undefined) return undefined;
      const scope = { organizationId: user.organizationId, kind: "project" as const, userId: user.id };
      return findUsableApiKeys(executor, scope, Date.now());
    });
  }
}
