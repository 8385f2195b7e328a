/** Validated configuration of one deployment. */
export interface DeploymentConfig {
  /** Name in the engine registry. */
  engine: string;
  /** Output of the engine's settings schema. */
  settings: unknown;
  weight: number;
  /** What the deployment costs the operator, in the units of a model's `price`. */
  price: Readonly<Record<string, string>>;
  prefixCaching: boolean;
  /** Undefined: the default in `local`. */
  load: "start" | "on_demand" | undefined;
  /** 0: never; undefined: the default in `local`. */
  unloadAfterSeconds: number | undefined;
  /** Undefined: the model's `maxQueue`. */
  maxQueue: number | undefined;
}
