import { InvalidArgumentError, Option } from 'commander';

/** The spellings of Go's strconv.ParseBool. */
const WORDS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((word) => [word, false] as const),
]);

/**
 * A switch that also takes a value, like Go's flags in charts: `--no-dhcp`, `--no-dhcp=true` and `--no-dhcp=false`. As usual in commander,
 * `--no-dhcp` sets `dhcp` to false.
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
