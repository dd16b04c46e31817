import { InvalidArgumentError } from 'commander';

/** Adds one `--interface POOL=INTERFACE` to the earlier ones. @throws InvalidArgumentError */
export function collectInterface(text: string, previous: Map<string, string[]> = new Map()): Map<string, string[]> {
  const [, pool, name] = /^([^=]+)=([^=/\s]{1,15})$/.exec(text) ?? [];
  if (pool === undefined || name === undefined) throw new InvalidArgumentError('write POOL=INTERFACE, as in net-48=eth1.');
  const names = previous.get(pool) ?? [];
  if (names.includes(name)) throw new InvalidArgumentError('it is given twice.');
  return previous.set(pool, [...names, name]);
}
