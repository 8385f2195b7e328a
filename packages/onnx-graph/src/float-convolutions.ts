/** Rewrites a graph so that its convolutions in whole numbers are computed in floats. */

import {
  type Field,
  fieldOf,
  fieldsOf,
  type GraphEdit,
  INITIALIZER,
  message,
  NODE,
  NODE_ATTRIBUTE,
  NODE_INPUT,
  NODE_OPERATOR,
  NODE_OUTPUT,
  textsOf,
} from "./edit-graph.ts";
import { node } from "./onnx-graph-builder.ts";

/** TensorProto.DataType */
const FLOAT32 = 1;
const INT32 = 6;

const ONE = "float_convolutions_one";

/**
 * Replaces each ConvInteger by a Conv of the same whole numbers as floats, whose result is cast back. Products of bytes
 * are exact as floats, and so are sums below 2^24. With two threads, ONNX Runtime 1.30 takes five times as long for
 * ConvInteger as 1.32, and uses little more than one of them.
 */
export const floatConvolutions: GraphEdit = (fields) => {
  const one = message((writer) => {
    writer.writeVarintField(2, FLOAT32);
    writer.writeStringField(8, ONE);
    writer.writeBytesField(9, new Uint8Array(Float32Array.of(1).buffer));
  });
  const rewritten = fields.flatMap((field) => (field.number === NODE ? rewriteNode(field) : [field]));
  return [...rewritten, fieldOf(INITIALIZER, [one])];
};

function rewriteNode(field: Field): Field[] {
  const fields = fieldsOf(field.content);
  if (textsOf(fields, NODE_OPERATOR)[0] !== "ConvInteger") return [field];
  const [x = "", weights = "", xZero = "", weightsZero = ""] = textsOf(fields, NODE_INPUT);
  const [output = ""] = textsOf(fields, NODE_OUTPUT);
  const [floatX, floatWeights, floatOutput] = [`${output}_x`, `${output}_weights`, `${output}_float`];
  const attributes = fields.filter(({ number }) => number === NODE_ATTRIBUTE).map(({ bytes }) => bytes);
  return [
    [message(node("DequantizeLinear", [x, ONE, xZero], [floatX], {}))],
    // A constant, which is computed once when the model is opened.
    [message(node("DequantizeLinear", [weights, ONE, weightsZero], [floatWeights], {}))],
    [message(node("Conv", [floatX, floatWeights], [floatOutput], {})), ...attributes],
    [message(node("Cast", [floatOutput], [output], { to: INT32 }))],
  ].map((parts) => fieldOf(NODE, parts));
}
