import { getSystemErrorName } from 'node:util';

/** The kernel refused a request. */
export class NetlinkError extends Error {
  /** `ENODEV`, `EPERM`, ... */
  readonly code: string;

  /** @param action - what failed: `add the address`. @param errorNumber - above 0. */
  constructor(action: string, errorNumber: number) {
    const code = getSystemErrorName(-errorNumber);
    super(`cannot ${action}: ${code}${code === 'EPERM' ? '; grant CAP_NET_ADMIN' : ''}`);
    this.code = code;
  }
}
