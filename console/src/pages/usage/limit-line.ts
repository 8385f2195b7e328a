/** Line of a limit in a chart, whose axis reaches to it. */
export function limitLine(limit: number) {
  return {
    y: limit,
    color: "red.6",
    label: "Limit",
    labelPosition: "insideTopLeft",
    strokeDasharray: "6 4",
    ifOverflow: "extendDomain",
  } as const;
}
