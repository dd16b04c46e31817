/** Trailing metadata of a refusal: host:port of the manager that is leader. */
export const LEADER_METADATA = 'wol-leader';
