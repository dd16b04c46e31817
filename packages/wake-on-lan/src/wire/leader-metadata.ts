/** Trailing metadata of a refusal: host:port of the manager that leads. */
export const LEADER_METADATA = 'wol-leader';
