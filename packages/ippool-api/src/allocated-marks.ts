/** The marks of unavailable addresses in `status.ipv4.allocated`. */
export const ALLOCATED_EXCLUDED = 'EXCLUDED';
export const ALLOCATED_RESERVED = 'RESERVED';
