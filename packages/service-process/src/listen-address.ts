import { isIPv6 } from 'node:net';
import { InvalidArgumentError } from 'commander';

/** Where to listen. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * `127.0.0.1:8080`, `[::1]:8080`, `:8080` for every address, `off`: an argument of a command line. An IPv6 address may omit its brackets, as in
 * `$(POD_IP):8080`: the port is after the last colon.
 * @throws InvalidArgumentError for anything else.
 */
export function parseListenAddress(text: string): ListenAddress | 'off' {
  const address = text === 'off' ? text : readListenAddress(text);
  if (address === undefined) throw new InvalidArgumentError('write HOST:PORT, as in 127.0.0.1:8080 or [::1]:8080, or off.');
  return address;
}

/**
 * Parses the same argument, but without `off`.
 * @param example - an example value. @param without - what to do instead of `off`; it ends the error.
 */
export function requiredListenAddress(example: string, without: string): (text: string) => ListenAddress {
  return (text) => {
    const address = readListenAddress(text);
    if (address === undefined) throw new InvalidArgumentError(`write HOST:PORT, as in ${example}; ${without}.`);
    return address;
  };
}

function readListenAddress(text: string): ListenAddress | undefined {
  const [, bracketed, plain = '', portText] = /^(?:\[([^\]]*)\]|([^\s[\]]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(portText);
  if (portText === undefined || port > 65_535 || !isAddressOrName(bracketed, plain)) return undefined;
  return { host: bracketed ?? (plain || '::'), port };
}

/** A host in brackets, or with a colon, must be an IPv6 address. */
function isAddressOrName(bracketed: string | undefined, plain: string): boolean {
  return bracketed === undefined && !plain.includes(':') ? true : isIPv6(bracketed ?? plain);
}

/** As it is written on a command line. */
export function formatListenAddress({ host, port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** True for `localhost`, 127.0.0.0/8 and ::1, which only programs of the host can reach. */
export function isLoopback({ host }: ListenAddress): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
