/** Classes of IP addresses, which decide where outgoing connections may go. */

import ipaddr from "ipaddr.js";

/**
 * `public`: reachable over the internet. `private`: this machine and the operator's networks. `forbidden`: link-local
 * addresses, at which clouds serve the credentials of a machine, and addresses without a host.
 */
export type AddressClass = "public" | "private" | "forbidden";

const PRIVATE_RANGES: ReadonlySet<string> = new Set(["private", "loopback", "uniqueLocal", "carrierGradeNat"]);

/** Addresses of cloud metadata outside the link-local ranges: Azure, Alibaba Cloud, Oracle Cloud, AWS over IPv6. */
const METADATA: ReadonlySet<string> = new Set(["168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254"]);

/** The only block of IPv6 that is assigned to hosts on the internet (RFC 4291). `::7f00:1`, for one, is not in it. */
const GLOBAL = ipaddr.IPv6.parse("2000::");

/** The well-known prefix of NAT64 (RFC 6052), and the one for local use (RFC 8215). */
const NAT64 = ipaddr.IPv6.parse("64:ff9b::");
const NAT64_LOCAL = ipaddr.IPv6.parse("64:ff9b:1::");

/** Classifies an address in any textual form; `forbidden` for anything else. */
export function addressClass(address: string): AddressClass {
  if (!ipaddr.isValid(address)) return "forbidden";
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv6 ? classOfIPv6(parsed) : classOf(parsed);
}

/** An address that stands for an IPv4 address has the class of that one, because connections end there. */
function classOfIPv6(address: ipaddr.IPv6): AddressClass {
  if (address.isIPv4MappedAddress()) return classOf(address.toIPv4Address());
  const embedded = new ipaddr.IPv4(address.toByteArray().slice(-4));
  if (address.match(NAT64, 96)) return classOf(embedded);
  if (address.match(NAT64_LOCAL, 48)) return "forbidden";
  const addressKind = classOf(address);
  return addressKind === "public" && !address.match(GLOBAL, 3) ? "forbidden" : addressKind;
}

function classOf(address: ipaddr.IPv4 | ipaddr.IPv6): AddressClass {
  if (METADATA.has(address.toString())) return "forbidden";
  const range = address.range();
  if (range === "unicast") return "public";
  return PRIVATE_RANGES.has(range) ? "private" : "forbidden";
}
