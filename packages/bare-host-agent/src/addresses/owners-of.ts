import type { PlannedPool } from './planned-pool.js';

/** The VirtualMachineNetworkConfig that each address is for, by MAC address. A reservation that no object claims has none. */
export function ownersOf({ configured, assignments, refused }: Omit<PlannedPool, 'counts'>): Map<string, string> {
  const key = ({ owner, macAddress }: { readonly owner: string; readonly macAddress: string }) => `${macAddress} ${owner}`;
  const seconds = new Set(refused.filter(({ reason }) => reason === 'mac-address-claimed-twice').map(key));
  const claims = configured.claims.filter((claim) => !seconds.has(key(claim)));
  const owners = new Map(claims.map(({ macAddress, owner }) => [macAddress, owner]));
  return new Map(
    assignments.flatMap(({ macAddress }) => {
      const owner = owners.get(macAddress);
      return owner === undefined ? [] : [[macAddress, owner]];
    }),
  );
}
