/** Power actions, in the words of Redfish. */
export const RESET_TYPES = ['On', 'ForceOn', 'ForceOff', 'GracefulShutdown', 'ForceRestart', 'GracefulRestart'] as const;

/** A power action. */
export type ResetType = (typeof RESET_TYPES)[number];
