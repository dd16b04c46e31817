import { lastErrorName } from './libc.js';

const REMEDIES: Readonly<Record<string, string>> = {
  EPERM: 'run as root or grant CAP_NET_RAW and CAP_NET_BIND_SERVICE',
  EACCES: 'run as root or grant CAP_NET_BIND_SERVICE',
  EADDRINUSE: 'another program has the port: stop it, or give it another interface',
  ENODEV: 'create the interface, or name another one (ip -brief link lists them)',
};

/** A system call on a socket failed. */
export class SocketError extends Error {
  readonly code: string;

  /** @param action - what failed: `bind UDP port 67 on eth1`. Reads the last system call's error. */
  constructor(action: string) {
    const code = lastErrorName();
    const remedy = REMEDIES[code];
    super(`cannot ${action}: ${code}${remedy === undefined ? '' : `; ${remedy}`}`);
    this.code = code;
  }
}
