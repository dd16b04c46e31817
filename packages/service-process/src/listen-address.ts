import { InvalidArgumentError } from 'commander';

/** Where to listen. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * `127.0.0.1:8080`, `[::1]:8080`, `:8080` for every address, `off`: an argument of a command line.
 * @throws InvalidArgumentError for anything else.
 */
export function parseListenAddress(text: string): ListenAddress | 'off' {
  if (text === 'off') return 'off';
  const [, bracketed, plain, portText] = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]*)):(\d{1,5})$/.exec(text) ?? [];
  const port = Number(portText);
  if (portText === undefined || port > 65_535) throw new InvalidArgumentError('write HOST:PORT, as in 127.0.0.1:8080, or off.');
  return { host: bracketed ?? (plain || '::'), port };
}
