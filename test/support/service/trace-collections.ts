/** Prints a line with figures for each garbage collection of the process that imports this module. */

import { setFlagsFromString } from "node:v8";

setFlagsFromString("--trace-gc");
setFlagsFromString("--trace-gc-nvp");
