/** The marks of unavailable addresses in `status.ipv4.allocated`. */
export const ALLOCATED_EXCLUDED = 'EXCLUDED';
/** The entry of an address in `status.ipv4.allocated` that is reserved for a client. */
export const ALLOCATED_RESERVED = 'RESERVED';
