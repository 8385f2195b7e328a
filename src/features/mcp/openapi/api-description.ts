/** What the service reads of an OpenAPI document: operations as tools, and how to call them. */

import type { McpTool } from "../mcp-offer.ts";

export interface ApiDescription {
  title: string;
  version: string;
  /** Address of the first server that the document names, with the defaults of its variables. */
  server: string | undefined;
  operations: readonly ApiOperation[];
  /** Operations that no call can be made for, each with the reason. */
  leftOut: readonly string[];
}

export interface ApiOperation {
  tool: McpTool;
  /** In capitals. */
  method: string;
  /** Below the address of the API, with `{parameters}`. */
  path: string;
  parameters: readonly ApiParameter[];
  body: ApiBody | undefined;
}

export interface ApiParameter {
  /** Name of the tool's argument. */
  argument: string;
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  style: ParameterStyle;
  explode: boolean;
}

/** `json`: the parameter has `content` in place of a style. */
export type ParameterStyle = "simple" | "form" | "spaceDelimited" | "pipeDelimited" | "deepObject" | "json";

export interface ApiBody {
  argument: string;
  mediaType: string;
  required: boolean;
  /** Fields of a form whose values are files, which a model gives in base64. */
  files: readonly string[];
}
