/** Gives each batch that has not ended to one run at a time. */
export interface BatchQueue {
  /** Begins to give batches to `run`, those of earlier processes included. `run` resolves with false to get one again. */
  start(run: (id: string) => Promise<boolean>): Promise<void>;
  add(batch: { id: string; projectId: string }): Promise<void>;
  /** Gives out no further batches; those that run keep running. */
  drain(): void;
  /** Waits until no batch runs. */
  close(): Promise<void>;
}
