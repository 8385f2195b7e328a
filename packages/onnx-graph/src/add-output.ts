/** Makes a value within a graph an output of the model. */

import {
  fieldOf,
  fieldsOf,
  type GraphEdit,
  message,
  NODE,
  NODE_INPUT,
  NODE_OPERATOR,
  OUTPUT,
  textsOf,
} from "./edit-graph.ts";
import { node } from "./onnx-graph-builder.ts";

/**
 * Adds an output `name` with the first input of the first node of an operator. ONNX Runtime finds its type. Costs nothing
 * in a run that does not fetch it. Throws an Error when the graph has no such node.
 */
export function addOutput(name: string, operator: string): GraphEdit {
  return (fields) => {
    for (const { number, content } of fields) {
      if (number !== NODE) continue;
      const parts = fieldsOf(content);
      const [input] = textsOf(parts, NODE_INPUT);
      if (input === undefined || textsOf(parts, NODE_OPERATOR)[0] !== operator) continue;
      const copy = message(node("Identity", [input], [name], {}));
      const output = message((writer) => writer.writeStringField(1, name));
      return [...fields, fieldOf(NODE, [copy]), fieldOf(OUTPUT, [output])];
    }
    throw new Error(`The graph has no node ${operator}`);
  };
}
