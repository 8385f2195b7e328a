import type { PbfReader } from "pbf";

export type OtlpValue = string | number | boolean | OtlpAttributes;
export interface OtlpAttributes {
  [name: string]: OtlpValue;
}

export const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** KeyValue of opentelemetry/proto/common/v1/common.proto. */
export function readAttribute(pbf: PbfReader, attributes: OtlpAttributes): void {
  const pair = pbf.readMessage<{ key: string; value: OtlpValue }>(
    (tag, result, inner) => {
      if (tag === 1) result.key = inner.readString();
      if (tag === 2) result.value = readValue(inner);
    },
    { key: "", value: "" },
  );
  attributes[pair.key] = pair.value;
}

/** AnyValue: arrays become objects with their indices as keys. */
export function readValue(pbf: PbfReader): OtlpValue {
  return pbf.readMessage<[OtlpValue]>(
    (tag, value, each) => {
      if (tag === 1) value[0] = each.readString();
      if (tag === 2) value[0] = each.readBoolean();
      if (tag === 3) value[0] = each.readVarint(true);
      if (tag === 4) value[0] = each.readDouble();
      if (tag === 5) {
        const list: OtlpValue[] = [];
        each.readMessage((kind) => {
          if (kind === 1) list.push(readValue(each));
        }, null);
        value[0] = Object.fromEntries(list.entries());
      }
      if (tag === 6) {
        const map: OtlpAttributes = {};
        each.readMessage((kind) => {
          if (kind === 1) readAttribute(each, map);
        }, null);
        value[0] = map;
      }
    },
    [""],
  )[0];
}
