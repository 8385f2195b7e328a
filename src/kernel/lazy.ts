import { z } from "zod";

const NEVER = z.never();
const UNKNOWN = z.unknown();

type Build<Shape> = () => Shape;

/**
 * Object schemas whose fields are built when the schema is first used: `lazy.object(() => ({ id: z.string() }))`. A
 * field takes 0.7 to 5 KB of heap, which the garbage collector reads at each marking, and most processes answer few of
 * the operations.
 */
export const lazy = {
  object: <Shape extends z.core.$ZodLooseShape>(build: Build<Shape>) => lazyObject<Shape, z.core.$strip>(build),
  strictObject: <Shape extends z.core.$ZodLooseShape>(build: Build<Shape>) =>
    lazyObject<Shape, z.core.$strict>(build, NEVER),
  looseObject: <Shape extends z.core.$ZodLooseShape>(build: Build<Shape>) =>
    lazyObject<Shape, z.core.$loose>(build, UNKNOWN),
};

function lazyObject<Shape extends z.core.$ZodLooseShape, Config extends z.core.$ZodObjectConfig>(
  build: Build<Shape>,
  catchall?: z.core.$ZodType,
): z.ZodObject<z.core.util.Writeable<Shape>, Config> {
  let shape: Shape | undefined;
  const definition: z.core.$ZodObjectDef = {
    type: "object",
    get shape() {
      shape ??= build();
      return shape;
    },
    ...(catchall && { catchall }),
  };
  return new z.ZodObject(definition) as unknown as z.ZodObject<z.core.util.Writeable<Shape>, Config>;
}
