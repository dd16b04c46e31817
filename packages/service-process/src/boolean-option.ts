import { InvalidArgumentError, Option } from 'commander';

/** As Go's strconv.ParseBool reads them. */
const WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
]);

/**
 * A switch that also takes a value, as Go's flags do and charts write them: `--no-dhcp`, `--no-dhcp=true` and `--no-dhcp=false`.
 * What the command sees is commander's: `--no-dhcp` sets `dhcp` to false.
 *
 * @param flag - as in `--no-dhcp`.
 */
export function booleanOption(flag: string, description: string): Option {
  const isNegative = flag.startsWith('--no-');
  return new Option(`${flag} [bool]`, description).argParser((text) => {
    const value = parseBoolean(text);
    return isNegative ? !value : value;
  });
}

function parseBoolean(text: string): boolean {
  const value = WORDS.get(text);
  if (value === undefined) throw new InvalidArgumentError('write true or false, or nothing for true.');
  return value;
}
