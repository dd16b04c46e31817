/** The mark of an excluded address in `status.ipv4.allocated`. */
export const ALLOCATED_EXCLUDED = 'EXCLUDED';
/** The mark of the address of the server or the router in `status.ipv4.allocated`. */
export const ALLOCATED_RESERVED = 'RESERVED';
