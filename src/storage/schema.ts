/**
 * Tables of both databases: text, integers, encrypted bytes, and times in epoch milliseconds. Their columns have snake_case names, which
 * a plugin of Kysely translates. A time that is null has not happened. Each part adds its tables where it declares their rows.
 */
export interface Schema {
  replicaCount: ReplicaCountRow;
}

interface ReplicaCountRow {
  singleton: 1;
  replicas: number;
}
