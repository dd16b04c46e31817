export const DATA_FORMATS = ['json', 'yaml'] as const;
export type DataFormat = (typeof DATA_FORMATS)[number];

/** Writes a value to the standard output. @param place - `stream`: others follow it. */
export async function printData(format: DataFormat, value: unknown, place?: 'stream'): Promise<void> {
  process.stdout.write((await formatterOf(format, place))(value));
}

/** Makes text of values. In a stream a value of JSON is one line, and one of YAML is a document. */
export async function formatterOf(format: DataFormat, place?: 'stream'): Promise<(value: unknown) => string> {
  if (format === 'json') return (value) => `${JSON.stringify(value, undefined, place === 'stream' ? undefined : 2)}\n`;
  const { stringify } = await import('yaml');
  const start = place === 'stream' ? '---\n' : '';
  return (value) => `${start}${stringify(value, { aliasDuplicateObjects: false, lineWidth: 0 })}`;
}
