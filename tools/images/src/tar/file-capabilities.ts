import type { Capability } from '../tree/image-entry.js';

/** Source: linux/capability.h. */
const NUMBER: Readonly<Record<Capability, number>> = { NET_BIND_SERVICE: 10, NET_ADMIN: 12, NET_RAW: 13 };
/** VFS_CAP_REVISION_2, without the bit that would put the capabilities into use at once. */
const REVISION = 0x02_00_00_00;

/**
 * The extended attribute `security.capability` of a program that may take capabilities into use, and starts also where it is not given
 * them (`=p`). Source: capabilities(7), "File capability extended attribute versioning".
 */
export function encodeFileCapabilities(capabilities: readonly Capability[]): Buffer {
  const attribute = Buffer.alloc(20);
  attribute.writeUInt32LE(REVISION, 0);
  attribute.writeUInt32LE(
    capabilities.reduce((bits, capability) => bits | (1 << NUMBER[capability]), 0),
    4,
  );
  return attribute;
}
