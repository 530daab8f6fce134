import ipaddr from 'ipaddr.js';

/**
 * True for an address of the public internet: not a private, local, link-local, metadata, shared, reserved or multicast
 * one, and not one of IPv6 that has an address of IPv4 in it, which might be any of these.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  if (parsed.kind() === 'ipv4') return true;
  const [first = 0] = parsed.toByteArray();
  return first >= 0x20 && first < 0x40; // 2000::/3 is all that is given out
}

/** The address that a URL's host is, if it is one, without the brackets of IPv6. */
export function literalAddress(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return ipaddr.isValid(bare) ? bare : undefined;
}
