/** Schemas of host names, ports and networks, shared by the file and the environment. */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { z } from "zod";

const HOST_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252}[A-Za-z0-9])?$/;

export const host = z.string().refine((value) => isIP(value) !== 0 || HOST_NAME.test(value), {
  error: "must be an IP address or a host name, without a port and without brackets",
});

export const network = z.string().refine((value) => isIP(value) !== 0 || ipaddr.isValidCIDR(value), {
  error: "must be an IP address, or a network such as 10.0.0.0/8 or fd00::/8",
});

const PORT_BOUND = "must be a whole number from 0 to 65535 (0 picks a free port)";

export const port = z
  .int({ error: ({ input }) => (input === undefined ? undefined : PORT_BOUND) })
  .min(0, PORT_BOUND)
  .max(65535, PORT_BOUND);
