/** State of one deployment for metrics. */
export interface DeploymentMeasure {
  model: string;
  deployment: string;
  isUp: boolean;
  isCircuitOpen: boolean;
  waiting: number;
  slotsInUse: number;
  /** Load by the engine's own metrics, of all its clients; undefined: none are configured, or none are recent. */
  engineLoad: { running: number; waiting: number; cacheUsage: number | undefined } | undefined;
  /** Resident memory of a loaded local model. */
  memoryBytes: number | undefined;
  /** Duration of the last load of a local model. */
  loadSeconds: number | undefined;
}
