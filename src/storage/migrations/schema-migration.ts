import type { Migration } from "kysely/migration";

export interface SchemaMigration extends Migration {
  /**
   * Newest migration that a process must know to keep working after this one. Undefined: every process does, because
   * the migration only expands the schema.
   */
  oldestCompatible?: string;
}
