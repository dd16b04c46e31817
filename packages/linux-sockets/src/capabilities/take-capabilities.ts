import { capget, capset, lastErrorName } from '../libc/libc.js';

/** Numbers of capabilities, by their names in Kubernetes. Source: linux/capability.h. */
const NUMBER = { NET_BIND_SERVICE: 10, NET_ADMIN: 12, NET_RAW: 13 } as const;

/** A capability of Linux that this package can enable, without `CAP_`. */
export type Capability = keyof typeof NUMBER;

/** _LINUX_CAPABILITY_VERSION_3: two sets of 32 capabilities. */
const VERSION = 0x20080522;
/** Offsets in the first set. Capabilities from 32 on are in the second one, and stay as they are. */
const EFFECTIVE = 0;
const PERMITTED = 4;

/**
 * Makes permitted capabilities of this thread effective, for its system calls. A program that is not started by root has the permitted capabilities
 * of its file; for root, all are effective from the start.
 *
 * @returns those of `wanted` that are not permitted. Source: capabilities(7), "Thread capability sets".
 */
export function takeCapabilities(wanted: readonly Capability[]): readonly Capability[] {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(VERSION, 0);
  const sets = Buffer.alloc(24);
  if (capget(header, sets) !== 0) throw new Error(`cannot read the capabilities of this process: ${lastErrorName()}`);
  const permitted = sets.readUInt32LE(PERMITTED);
  const effective = sets.readUInt32LE(EFFECTIVE);
  const taken = (effective | (permitted & toBits(wanted))) >>> 0;
  if (taken !== effective) {
    sets.writeUInt32LE(taken, EFFECTIVE);
    if (capset(header, sets) !== 0) throw new Error(`cannot take capabilities into use: ${lastErrorName()}`);
  }
  return wanted.filter((capability) => (permitted & toBits([capability])) === 0);
}

function toBits(capabilities: readonly Capability[]): number {
  return capabilities.reduce((bits, capability) => bits | (1 << NUMBER[capability]), 0);
}
