/** Generated cases of a property: a quarter in `npm test`, all in `npm run test:long`. */
export function runCount(all: number): number {
  return process.env.ALL_GENERATED_CASES === undefined ? Math.ceil(all / 4) : all;
}
