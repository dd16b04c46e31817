/** The objects of `npm run bench -- control`. */

/** The MAC address of a virtual machine by its number. */
export function macOf(index: number): string {
  return `02:00:5e:${[index >> 16, index >> 8, index].map((octet) => (octet & 0xff).toString(16).padStart(2, '0')).join(':')}`;
}

const LARGE = { cidr: '10.0.0.0/16', serverIP: '10.0.0.2', router: '10.0.0.1', pool: { start: '10.0.1.0', end: '10.0.254.255' } };

/** `ipv4Config` of one of so many pools: a /16 if it is alone, else a /24. */
export function poolConfig(index: number, pools: number): Readonly<Record<string, unknown>> {
  if (pools === 1) return LARGE;
  const prefix = `10.${index >> 8}.${index & 0xff}`;
  const range = { start: `${prefix}.10`, end: `${prefix}.250` };
  return { cidr: `${prefix}.0/24`, serverIP: `${prefix}.2`, router: `${prefix}.1`, pool: range };
}
