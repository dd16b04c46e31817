/** PEM texts of one side. */
export interface TlsMaterial {
  readonly certificate: string;
  readonly key: string;
  /** Certificates of the authorities that the other side trusts. */
  readonly authorities: string;
}

/** The name that clients verify, whatever the address of the manager is. */
export const MANAGER_NAME = 'wake-on-lan.vmdhcp';

/** The name in the certificates of agents. */
export const AGENT_NAME = 'wake-on-lan-agent.vmdhcp';
